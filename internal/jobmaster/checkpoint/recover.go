package checkpoint

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/state/keygroup"
	"github.com/weirstream/weir/internal/status"
)

// recovery is what is read when the coordinator begins.
type recovery struct {
	stored []Pointer
	origin *Origin // nil: none was named
	// waits are the locations that are being read.
	waits []fs.Location
	// rules are those of the origin, for as long as nothing newer is there.
	rules snapshot.Rules
}

// recover reads everything the store has: all of it is counted, and the newest
// that can be read is restored.
func (c *Coordinator) recover(ev Recover) {
	r := &c.recovery
	c.recovered = true
	r.stored, r.origin = ev.Stored, ev.From
	if len(r.stored) > 0 {
		r.origin = nil // it was restored before anything was stored
	}
	for _, p := range r.stored {
		r.waits = append(r.waits, p.Location)
		c.lastID = max(c.lastID, p.Checkpoint)
	}
	if r.origin != nil {
		r.waits = append(r.waits, r.origin.Location)
	}
	for _, at := range r.waits {
		c.due++
		c.emit(ReadMetadata{Location: at})
	}
	if len(r.waits) == 0 {
		c.restore(Restart{Global: true})
		c.clear()
	}
}

func (c *Coordinator) metadataRead(ev MetadataRead) {
	c.due--
	r := &c.recovery
	i := slices.Index(r.waits, ev.Location)
	if i < 0 {
		return
	}
	r.waits = slices.Delete(r.waits, i, i+1)
	if r.origin != nil {
		c.begins(ev)
		c.clear()
		return
	}
	place := slices.IndexFunc(r.stored, func(p Pointer) bool { return p.Location == ev.Location })
	e := &completed{id: r.stored[place].Checkpoint, metadata: ev.Metadata, dir: ev.Dir, damage: ev.Err}
	switch {
	case ev.Err != nil:
		e.dir = ev.Location
		c.report(slog.LevelError, "a completed checkpoint cannot be read", e.id, ev.Err)
	case ev.Metadata.Checkpoint != e.id:
		e.damage = &snapshot.CorruptError{Location: ev.Location, What: fmt.Sprintf("it is of checkpoint %d, and the store says %d", ev.Metadata.Checkpoint, e.id)}
		c.report(slog.LevelError, "a completed checkpoint cannot be read", e.id, e.damage)
	default:
		_, mine := ev.Dir.Under(c.directory())
		e.owned = mine && ev.Metadata.Kind == snapshot.Checkpoint
		e.files = locations(ev.Metadata.Handles())
	}
	c.own(e)
	c.completed = append(c.completed, e)
	slices.SortFunc(c.completed, func(a, b *completed) int { return int(a.id - b.id) })
	if len(r.waits) == 0 {
		c.restore(Restart{Global: true})
	}
	c.clear()
}

// begins starts the job from what a person named.
func (c *Coordinator) begins(ev MetadataRead) {
	o := c.recovery.origin
	if ev.Err != nil && c.ended {
		return
	}
	if ev.Err != nil {
		c.impossible(fmt.Errorf("start from %s: %w", o.Location, ev.Err))
		return
	}
	m := ev.Metadata
	c.recovery.rules = snapshot.Rules{Source: ev.Dir.String(), AllowNonRestored: o.AllowNonRestored}
	e := &completed{id: m.Checkpoint, metadata: m, dir: ev.Dir, owned: o.Claim == ClaimIt, files: locations(m.Handles())}
	c.own(e)
	c.lastID = max(c.lastID, e.id)
	c.completed = append(c.completed, e)
	c.restore(Restart{Global: true})
}

// restarting aborts what the old attempts would have given. A checkpoint that is
// being stored may turn out to be the newest, and is waited for.
func (c *Coordinator) restarting(ev Restart) {
	c.abortPending(&Error{Reason: Failover})
	if c.stopping != 0 && !slices.ContainsFunc(c.queue, func(w *waiting) bool { return w.ID == c.stopping }) {
		c.stopping, c.standstill = 0, false // the job was to end after its savepoint, and goes on
	}
	if c.restart != nil {
		ev.Global = ev.Global || c.restart.Global
		for _, v := range c.restart.Vertices {
			if !slices.Contains(ev.Vertices, v) {
				ev.Vertices = append(ev.Vertices, v)
			}
		}
	}
	c.restart = &ev
}

// abortPending aborts what is pending; what waits goes on waiting.
func (c *Coordinator) abortPending(err *Error) {
	if c.triggering != nil {
		c.abort(c.triggering, err, nil)
	}
	for _, p := range slices.Clone(c.pending) {
		c.abort(p, err, nil)
	}
}

// finishRestart answers a Restart once nothing is being stored any more.
func (c *Coordinator) finishRestart() {
	if c.restart == nil || slices.ContainsFunc(c.pending, func(p *pending) bool { return p.stage == storing }) {
		return
	}
	restart := *c.restart
	c.restart = nil
	c.restore(restart)
}

// restore says what tasks begin with: the newest checkpoint that can be read.
func (c *Coordinator) restore(r Restart) {
	if c.ended {
		return // while it was read
	}
	var lost error
	for _, e := range slices.Backward(c.completed) {
		if e.damage != nil {
			if lost == nil {
				lost = e.damage
			}
			continue
		}
		a, err := snapshot.Assign(e.metadata, c.targets(), c.rules(e))
		if err != nil {
			c.impossible(err)
			return
		}
		if lost != nil {
			c.report(slog.LevelError, "an older checkpoint is restored, because newer ones cannot be read", e.id, lost)
		}
		for _, o := range a.Dropped {
			c.report(slog.LevelWarn, "state is dropped, because the program has no such operator", e.id, fmt.Errorf("operator %s (%s)", o.ID, o.Name))
		}
		c.history.Restore(record.Restored{ID: e.id, Kind: e.metadata.Kind, At: c.now, Location: e.dir})
		c.emit(Restore{Checkpoint: e.id, Assignment: a, Vertices: r.Vertices, Global: r.Global})
		return
	}
	if lost != nil {
		c.impossible(fmt.Errorf("no completed checkpoint can be read: %w", lost))
		return
	}
	c.emit(Restore{Vertices: r.Vertices, Global: r.Global})
}

func (c *Coordinator) rules(e *completed) snapshot.Rules {
	if rules := c.recovery.rules; rules.Source == e.dir.String() {
		return rules
	}
	return snapshot.Rules{Source: e.dir.String()}
}

// impossible ends the job: a restart would not help, and it must not begin
// empty.
func (c *Coordinator) impossible(err error) {
	c.emit(FailJob{Cause: status.FailureOf(status.Fatal(err))})
}

// targets are the operators of the job.
func (c *Coordinator) targets() []snapshot.Target { return Targets(c.graph) }

// Targets are the operators of a job, as they are restored.
func Targets(graph *jobgraph.Graph) []snapshot.Target {
	var all []snapshot.Target
	for _, v := range graph.Vertices {
		for i, o := range v.Operators {
			t := snapshot.Target{
				ID: o.ID, UID: o.UID, Name: o.Name, Task: v.ID, Vertex: v.Name, Parallelism: v.Parallelism, MaxParallelism: v.MaxParallelism,
				// A maximum that is not the one chosen by itself was chosen by the program.
				FixedMax: v.MaxParallelism != keygroup.DefaultMax(v.Parallelism),
			}
			if i == 0 {
				t.Inputs = inputs(graph, v)
			}
			all = append(all, t)
		}
	}
	return all
}

// inputs are those of a vertex, as records in flight come to it.
func inputs(graph *jobgraph.Graph, v *jobgraph.Vertex) []snapshot.Input {
	all := make([]snapshot.Input, len(v.Inputs))
	for i, e := range v.Inputs {
		from := graph.Vertices[slices.IndexFunc(graph.Vertices, func(p *jobgraph.Vertex) bool { return p.ID == e.Source })]
		all[i] = snapshot.Input{
			From:   from.Operators[0].ID,
			Output: slices.IndexFunc(from.Produces, func(d *jobgraph.DataSet) bool { return d.ID == e.DataSet }),
			Route:  routes[e.Ship],
		}
	}
	return all
}

// routes are those of partitioners, by how these are shown; of the others a record may
// be processed anywhere. Looked up, never ranged.
var routes = map[string]snapshot.Route{
	"HASH": snapshot.ByKey, "CUSTOM": snapshot.ByRecord, "BROADCAST": snapshot.Everywhere,
}

func (c *Coordinator) unreadable(ev Unreadable) {
	for _, e := range c.completed {
		if e.id == ev.Checkpoint && e.damage == nil {
			e.damage = ev.Err
			c.report(slog.LevelError, "a completed checkpoint is damaged", e.id, ev.Err)
		}
	}
}

// rescaled takes over other parallelisms.
func (c *Coordinator) rescaled(graph *jobgraph.Graph) {
	c.abortPending(&Error{Reason: Failover})
	c.graph, c.tasks = graph, newTasks(graph)
	c.follow()
}
