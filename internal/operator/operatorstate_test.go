package operator

import (
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/codec"
)

func schemaOf[T any](t *testing.T) string {
	t.Helper()
	plan, err := codec.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	return string(plan.Schema())
}

// rule is a type before a program was changed, wider after.
type rule struct {
	ID    int32
	Limit int64
}

type wider struct {
	ID    int64
	Limit int64
	Note  string
}

// Elements are read by the names of their fields when their type has changed, and
// refused when it has changed otherwise.
func TestOperatorStateFollowsItsType(t *testing.T) {
	var m Moment
	list, err := OpenListState[rule](&m, "rules", Split)
	if err != nil {
		t.Fatal(err)
	}
	list.Vals = []rule{{1, 10}, {2, 20}}
	saved := m.lists[0].Save()

	var later Moment
	read, err := OpenListState[wider](&later, "rules", Split)
	if err != nil {
		t.Fatal(err)
	}
	l := &later.lists[0]
	if err := l.Fits(m.lists[0].Schema); err != nil {
		t.Fatal(err)
	}
	if err := l.Load(saved); err != nil || len(read.Vals) != 2 || read.Vals[1] != (wider{2, 20, ""}) {
		t.Errorf("got %v, %v", read.Vals, err)
	}
	if err := l.Fits(schemaOf[struct{ ID string }](t)); err == nil || !strings.Contains(err.Error(), "ID") {
		t.Errorf("a number read as text: %v", err)
	}
	if err := l.Load([][]byte{{1}}); err == nil {
		t.Error("an element that is cut short was loaded")
	}
}

// A broadcast state keeps the order of first puts through removals and restores.
func TestBroadcastStateKeepsItsOrder(t *testing.T) {
	var m, later Moment
	s, err := OpenBroadcastState[int64, string](&m, "s")
	if err != nil {
		t.Fatal(err)
	}
	for k := range int64(100) {
		if err := s.Put(k, "v"); err != nil {
			t.Fatal(err)
		}
	}
	for k := range s.All() {
		if k%7 != 0 {
			s.Remove(k)
		}
	}
	for _, k := range []int64{200, 7, 1} {
		if err := s.Put(k, "new"); err != nil {
			t.Fatal(err)
		}
	}
	restored, err := OpenBroadcastState[int64, string](&later, "s")
	if err != nil {
		t.Fatal(err)
	}
	l := &later.lists[0]
	if err := l.Fits(m.lists[0].Schema); err != nil {
		t.Fatal(err)
	}
	if err := l.Load(m.lists[0].Save()); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*BroadcastState[int64, string]{s, restored} {
		var keys []int64
		for k, v := range s.All() {
			if keys = append(keys, k); (v == "new") != (k == 7 || k == 200 || k == 1) {
				t.Errorf("%d has %q", k, v)
			}
		}
		if s.Len() != 17 || len(keys) != 17 || keys[1] != 7 || keys[15] != 200 || keys[16] != 1 {
			t.Errorf("%d entries, keys %v", s.Len(), keys)
		}
	}
	s.Clear()
	if _, ok := s.Get(7); ok || s.Len() != 0 {
		t.Error("cleared, and there is something")
	}
}
