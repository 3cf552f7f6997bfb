package cluster

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster/checkpoint"
	"github.com/weirstream/weir/internal/jobmaster/checkpointing"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
	"github.com/weirstream/weir/internal/testkit/sim"
)

// A run is a job with checkpoints from its beginning to its end, over as many
// masters as its checkpoints outlive, and what must hold of it.
type run struct {
	c   *Cluster
	job *job
	// over says that the job has ended for good, cleared that its JobMaster has come
	// so far as to empty the store.
	over, cleared bool
	clearedAt     time.Time   // on the world's clock
	dir           fs.Location // of its checkpoints; empty: they are in memory
	// heard are the files that a master was told of, and its life.
	heard map[fs.Location]int
	// drawn is the greatest id that was given, triggered the greatest that tasks were
	// told to begin, told the greatest that they were told to be complete, newest the
	// greatest that was ever entered.
	drawn, triggered, told, newest int64
	done                           time.Duration // when newest was entered
	before                         int64         // newest when faults stopped
	// acks are what JobMasters have heard, by checkpoint.
	acks map[int64][]heardAck
	// written is the metadata that was written, by its directory.
	written map[fs.Location]*snapshot.Metadata
	cuts    map[int64]*cut // that were ever entered
	entered map[int64]bool // that are in the store now
	// spoilt says that an older checkpoint was restored than one that was told to be
	// complete, because the files of that one were torn: what is put out twice then
	// is nobody's fault.
	spoilt  bool
	paths   [][]int // how many ways lead from one vertex to another
	outcome outcome
}

// heardAck is an acknowledgement that a JobMaster has heard.
type heardAck struct {
	attempt ident.AttemptID
	state   *snapshot.Metadata
}

func newRun(c *Cluster, j *job) *run {
	return &run{c: c, job: j, acks: map[int64][]heardAck{}, written: map[fs.Location]*snapshot.Metadata{}, cuts: map[int64]*cut{}, entered: map[int64]bool{}, heard: map[fs.Location]int{},
		paths: pathsOf(j.graph), outcome: newOutcome()}
}

// note adds a line to the course of the world.
func (r *run) note(format string, args ...any) {
	r.c.world.Note(fmt.Sprintf("job %.4s", r.job.id), fmt.Sprintf(format, args...))
}

// pathsOf counts the ways from each vertex to each.
func pathsOf(g *jobgraph.Graph) [][]int {
	paths := make([][]int, len(g.Vertices))
	for from := range paths {
		paths[from] = make([]int, len(g.Vertices))
		paths[from][from] = 1
		for to := from + 1; to < len(paths); to++ { // an edge leads to a later vertex
			for _, e := range g.Vertices[to].Inputs {
				paths[from][to] += paths[from][indexOf(g, e.Source)]
			}
		}
	}
	return paths
}

// ledgerOf is where the store of a job lies that outlives the master.
func ledgerOf(id ident.JobID) fs.Location { return fs.Location("mem:/ha").Join(id.String()) }

// A memoryStore is that of a JobMaster whose checkpoints end with it.
type memoryStore struct {
	checkpointing.Memory
	run *run
}

func (m *memoryStore) NextID(after int64, then func(int64, error)) {
	m.Memory.NextID(after, func(id int64, err error) {
		m.run.draws(id)
		then(id, err)
	})
}

func (m *memoryStore) Add(p checkpoint.Pointer, then func(error)) {
	m.run.enters(p.Checkpoint, p.Location)
	m.Memory.Add(p, then)
}

func (m *memoryStore) Remove(id int64, then func(error)) {
	delete(m.run.entered, id)
	m.Memory.Remove(id, then)
}

func (m *memoryStore) Clear(then func(error)) {
	m.run.clears()
	m.Memory.Clear(then)
}

// A ledger is that of a JobMaster whose checkpoints outlive it. What is done is
// seen even if nobody is told any more.
type ledger struct {
	storage.Ledger
	run *run
}

func (l *ledger) Draw(last int64) (int64, error) {
	id, err := l.Ledger.Draw(last)
	if err == nil {
		l.run.draws(id)
	}
	return id, err
}

func (l *ledger) Enter(id int64, at fs.Location) error {
	c := l.run.c
	c.springs(beforeStored, l.run, nil)
	err := l.Ledger.Enter(id, at)
	if _, missing := c.checkpoints.shelf.bare.Stat(context.Background(), l.Dir.Join("completed", strconv.FormatInt(id, 10))); missing == nil {
		l.run.enters(id, at)
	}
	c.springs(afterStored, l.run, nil)
	return err
}

func (l *ledger) Remove(id int64) error {
	err := l.Ledger.Remove(id)
	if err == nil {
		delete(l.run.entered, id)
	}
	return err
}

func (l *ledger) Clear() error {
	l.run.clears()
	return l.Ledger.Clear()
}

// clears notes that nothing of the run is to be in the store any more.
func (r *run) clears() { r.cleared, r.clearedAt = true, sim.Epoch.Add(r.c.world.Now()) }

// A ckptDisk is how a master's JobMasters write and read checkpoints.
type ckptDisk struct {
	storage.Disk
	c    *Cluster
	life int
}

func (d ckptDisk) Write(dir fs.Location, m *snapshot.Metadata) error {
	r := d.c.checkpoints.runOf(m.Job)
	d.c.springs(beforeMetadata, r, nil)
	err := d.Disk.Write(dir, m)
	if err == nil {
		r.written[dir] = m
		r.heard[dir.Join(snapshot.MetadataName)] = d.life
		d.c.springs(afterMetadata, r, nil)
	}
	return err
}
