package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/faulty"
	"github.com/weirstream/weir/internal/fs/mem"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/testkit/sim"
)

// A shelf is the files that all processes of a world share, on which checkpoints
// lie.
//
//	process ─▶ seat ─▶ faulty ─▶ shelf ─▶ mem
type shelf struct {
	c     *Cluster
	bare  *mem.FileSystem
	front *faulty.FileSystem
	user  *sim.Process // who uses it now
	// bad is a part of locations that cannot be written or deleted now; empty: all
	// can.
	bad string
	// doubtful: of what is written it is not told whether it is there.
	doubtful bool
	tear     int // files that will be torn
	torn     map[fs.Location]bool
	// stay are files and directories that somebody could not delete.
	stay []fs.Location
}

var errShelf = errors.New("input/output error")

func newShelf(c *Cluster) *shelf {
	s := &shelf{c: c, torn: map[fs.Location]bool{}}
	s.bare = mem.New(func() time.Time { return sim.Epoch.Add(c.world.Now()) })
	s.front = faulty.New(&back{s.bare, s})
	s.front.Fail = func(op faulty.Op, at fs.Location) error {
		broken := s.user != nil && s.user.DiskFails()
		if s.bad != "" && strings.Contains(string(at), s.bad) && op != faulty.Stat && op != faulty.Open && op != faulty.Read && op != faulty.List {
			broken = true
		}
		if !broken {
			return nil
		}
		if op == faulty.Delete || op == faulty.DeleteTree {
			if s.stay = append(s.stay, at); at.Base() == snapshot.MetadataName {
				s.stay = append(s.stay, at.Parent()) // what it names stays with it
			}
		}
		c.fault("checkpoint file fails: " + string(op))
		return errShelf
	}
	s.front.Tear = func(at fs.Location, data []byte) []byte {
		if s.tear == 0 || len(data) == 0 || strings.HasPrefix(string(at), "mem:/ha/") {
			return data
		}
		s.tear--
		s.torn[at] = true
		c.fault("checkpoint file torn")
		c.world.At(c.checkpoints.span(100*time.Millisecond, 10*time.Second), "strike", func() { c.readTorn(at) })
		if c.checkpoints.rand.IntN(2) == 0 {
			return data[:len(data)/2]
		}
		data[len(data)/2] ^= 1
		return data
	}
	return s
}

// of is the shelf as a process sees it.
func (s *shelf) of(p *sim.Process) fs.FileSystem { return &seat{s, p} }

// heal ends all troubles, except that files may still be torn.
func (s *shelf) heal() {
	s.bad, s.doubtful = "", false
	s.front.Limit(-1)
}

// below lists what is in a directory.
func (s *shelf) below(dir fs.Location) []fs.Location {
	entries, err := s.bare.List(context.Background(), dir)
	if err != nil {
		panic(err) // it is in memory
	}
	var all []fs.Location
	for _, e := range entries {
		all = append(all, e.Location)
	}
	return all
}

// stays reports whether a file may be left because it could not be deleted.
func (s *shelf) stays(at fs.Location) bool {
	return slices.ContainsFunc(s.stay, func(l fs.Location) bool {
		_, below := at.Under(l)
		return below || at == l
	})
}

// A seat is one process's way to the shelf.
type seat struct {
	s *shelf
	p *sim.Process
}

func (t *seat) sit() fs.FileSystem {
	t.s.user = t.p
	return t.s.front
}

func (t *seat) Create(ctx context.Context, at fs.Location) (fs.Writer, error) {
	return t.sit().Create(ctx, at)
}
func (t *seat) Open(ctx context.Context, at fs.Location) (fs.File, error) {
	return t.sit().Open(ctx, at)
}
func (t *seat) Stat(ctx context.Context, at fs.Location) (fs.Entry, error) {
	return t.sit().Stat(ctx, at)
}
func (t *seat) List(ctx context.Context, at fs.Location) ([]fs.Entry, error) {
	return t.sit().List(ctx, at)
}
func (t *seat) Delete(ctx context.Context, at fs.Location) error { return t.sit().Delete(ctx, at) }
func (t *seat) DeleteTree(ctx context.Context, at fs.Location) error {
	return t.sit().DeleteTree(ctx, at)
}

// back is what lies behind the faults: it sees what really happens.
type back struct {
	*mem.FileSystem
	s *shelf
}

func (b *back) Create(ctx context.Context, at fs.Location) (fs.Writer, error) {
	w, err := b.FileSystem.Create(ctx, at)
	if err != nil {
		return nil, err
	}
	return &pen{w, b.s}, nil
}

func (b *back) Delete(ctx context.Context, at fs.Location) error {
	b.s.c.checks.watchDeleted(at)
	return b.FileSystem.Delete(ctx, at)
}

func (b *back) DeleteTree(ctx context.Context, dir fs.Location) error {
	for _, at := range b.s.below(dir) {
		b.s.c.checks.watchDeleted(at)
	}
	return b.FileSystem.DeleteTree(ctx, dir)
}

// A pen writes a file of which it may not be told whether it is there.
type pen struct {
	fs.Writer
	s *shelf
}

func (w *pen) Commit(ctx context.Context) error {
	if !w.s.doubtful || !strings.HasPrefix(string(w.Location()), "mem:/ha/") {
		return w.Writer.Commit(ctx)
	}
	w.s.c.fault("nobody knows whether an entry is written")
	if w.s.c.checkpoints.rand.IntN(2) == 0 {
		w.Abort()
	} else if err := w.Writer.Commit(ctx); err != nil {
		return err
	}
	return fs.Failed("commit", w.Location(), -1, fs.ErrUncertain)
}
