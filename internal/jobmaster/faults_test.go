package jobmaster

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/status"
)

// TestFaults lets a job live through seeded faults: calls and answers are lost,
// a TaskManager dies, the ResourceManager starts anew, the user cancels. While
// it lives, no attempt leaves a terminal state and a region is deployed as a
// whole; when the faults stop, the job ends and leaves nothing behind.
func TestFaults(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { faults(t, seed) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func faults(t *testing.T, seed uint64) {
	w := newWorld()
	w.rand = rand.New(rand.NewPCG(seed, 1))
	r := rand.New(rand.NewPCG(seed, 2))
	rate := []float64{0, 0.05, 0.2}[r.IntN(3)]
	hit := func(rpc.Address, string) bool { return r.Float64() < rate }
	w.lose, w.silent = hit, hit
	rm := w.resourceManager()
	for i := range 3 {
		rm.taskExecutor(fmt.Sprint("te", i), 1)
	}
	m, done := w.start(t, twoVertices(2), nil)
	ends := map[string]string{}
	canceled := false
	for range 30 {
		w.pass(time.Duration(r.IntN(8000)) * time.Millisecond)
		switch r.IntN(12) {
		case 0:
			w.die(fmt.Sprint("te", r.IntN(3)))
		case 1:
			rm.start()
		case 2:
			m.Cancel(func(error) {})
			canceled = true
		case 3:
			te := rm.executor[r.IntN(3)]
			if len(te.running) > 0 && !w.down[te.self] {
				te.report(te.running[0], "FAILED", nil)
			}
		case 4:
			te := rm.executor[r.IntN(3)]
			if !w.down[te.self] {
				te.finish()
			}
		}
		holds(t, m.View(), ends)
	}
	w.lose, w.silent = nil, nil
	for range 60 { // the ResourceManager's side of the protocol is the fake's: it matches when asked
		if m.View().State.Terminal() {
			break
		}
		if rm.job != nil && len(rm.declared) > 0 {
			rm.match(int(rm.declared[len(rm.declared)-1]))
		}
		w.pass(10 * time.Second)
		for _, te := range rm.executor {
			if !w.down[te.self] {
				te.finish()
			}
		}
		holds(t, m.View(), ends)
	}
	v := m.View()
	if !v.State.GloballyTerminal() || len(*done) != 1 {
		t.Errorf("the job does not end: %s, OnDone %d times", states(v), len(*done))
	}
	if v.State == status.JobCanceled && !canceled {
		t.Error("the job was canceled by nobody")
	}
	w.quiet(t, m)
}

// holds checks what is true at any time.
func holds(t *testing.T, v execgraph.View, ends map[string]string) {
	t.Helper()
	deployed, all := 0, 0
	for _, vertex := range v.Vertices {
		for i := range vertex.Subtasks {
			s := &vertex.Subtasks[i]
			if end, ok := ends[s.ID.String()]; ok && end != s.State.String() {
				t.Errorf("attempt %s left %s for %s", s.ID, end, s.State)
			}
			if s.State.Terminal() {
				ends[s.ID.String()] = s.State.String()
			}
			all++
			if !s.Start().IsZero() {
				deployed++
			}
		}
	}
	if deployed != 0 && deployed != all {
		t.Errorf("%d of %d tasks of a region were deployed", deployed, all)
	}
	if end, ok := ends["job"]; ok && end != v.State.String() {
		t.Errorf("the job left %s for %s", end, v.State)
	}
	if v.State.Terminal() {
		ends["job"] = v.State.String()
	}
}
