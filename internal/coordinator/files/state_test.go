package files

import (
	"testing"

	"github.com/weirstream/weir/internal/coordinator"
)

// What was given after a checkpoint is free again when that is restored, by one
// subtask or by all, and what was given before is not.
func TestSplitsGoBackToACheckpoint(t *testing.T) {
	s := newSource(t, three)
	c := s.c.(coordinator.Stateful)
	c.Start()
	s.loop.run()
	s.expect("before", s.ask(0, 0, 1), "in/a[0+8]")
	state, err := c.Snapshot(1)
	if err != nil {
		t.Fatal(err)
	}
	s.expect("after", s.ask(0, 0, 2), "in/b[0+7]")
	s.expect("to the other", s.ask(1, 0, 1), "in/c[0+9]")
	c.ResetTo(0, 1)
	s.expect("again after one subtask went back", s.ask(0, 1, 1), "in/b[0+7]")
	s.expect("no more", s.ask(0, 1, 2), "done")

	if err := c.Restore(state); err != nil {
		t.Fatal(err)
	}
	s.expect("again after all went back", s.ask(1, 1, 1), "in/b[0+7]")
	if _, err := c.Snapshot(2); err != nil {
		t.Fatal(err)
	}
	c.Completed(2)
	s.expect("the last", s.ask(1, 1, 2), "in/c[0+9]")
	c.ResetTo(1, 2)
	s.expect("again after a later checkpoint", s.ask(0, 2, 1), "in/c[0+9]")
	s.expect("no more", s.ask(1, 2, 1), "done")
	if err := c.Restore([]byte("{")); err == nil {
		t.Error("a damaged state was restored")
	}
}

// A checkpoint that was begun before the files were found finds them again.
func TestFilesAreFoundAgainAfterACheckpoint(t *testing.T) {
	s := newSource(t, three)
	c := s.c.(coordinator.Stateful)
	state, err := c.Snapshot(1)
	if err != nil {
		t.Fatal(err)
	}
	c.Start()
	s.loop.run()
	s.ask(0, 0, 1)
	if err := c.Restore(state); err != nil {
		t.Fatal(err)
	}
	first := s.ask(0, 1, 1)
	s.loop.run()
	s.expect("the first", first, "in/a[0+8]")
}

// Who goes on with a checkpoint does not look for files again: those may be gone that
// were read before it.
func TestFilesAreNotLookedForAfterACheckpointThatHasThem(t *testing.T) {
	before := newSource(t, three)
	before.c.Start()
	before.loop.run()
	before.expect("before", before.ask(0, 0, 1), "in/a[0+8]")
	state, err := before.c.(coordinator.Stateful).Snapshot(1)
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(t, func(string) ([]Found, error) {
		t.Error("files are looked for")
		return nil, nil
	})
	if err := s.c.(coordinator.Stateful).Restore(state); err != nil {
		t.Fatal(err)
	}
	s.c.Start()
	s.loop.run()
	s.expect("the next", s.ask(0, 0, 1), "in/b[0+7]")
}
