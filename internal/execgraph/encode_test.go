package execgraph

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/snapshot/record"
	"github.com/weirstream/weir/internal/status"
)

func ended(t testing.TB) View {
	g := build(t, "a 2\nb 1 <- a:all")
	for _, vertex := range g.Vertices {
		for _, sub := range vertex.Subtasks {
			g.SetExecution(sub.Current, status.Canceled, begin.Add(time.Second))
		}
	}
	id := g.RecordFailure(g.Vertices[0].Subtasks[0].Current, &status.Failure{Kind: status.FailureError, Message: "boom", Chain: []string{"map"},
		Record: &status.Record{Origin: "a.txt, byte 7", Value: "x"}}, begin)
	g.Decide(id, Decision{Why: "of a test"})
	v := g.View()
	v.Checkpoints = &record.View{} // of a job that has taken none: its percentiles are no numbers
	v.Checkpoints.Summary.Checkpointed.P50 = record.Percentile(math.NaN())
	return v
}

func TestWhatIsEncodedIsDecoded(t *testing.T) {
	v := ended(t)
	data, err := v.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeView(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := got.Encode()
	if err != nil || !reflect.DeepEqual(again, data) {
		t.Errorf("encoded again it is another one: %v", err)
	}
	if got.Job != v.Job || !got.Start.Equal(v.Start) || len(got.Vertices) != 2 || len(got.Vertices[0].Subtasks) != 2 ||
		got.Vertices[0].Subtasks[1].State != status.Canceled || len(got.Plan.Vertices) != 2 || got.Plan.Vertices[1].Name != v.Plan.Vertices[1].Name ||
		!reflect.DeepEqual(got.Failures[0].Failure, v.Failures[0].Failure) || got.Failures[0].Decision.Why != "of a test" {
		t.Errorf("got %+v", got)
	}
}

func TestSummary(t *testing.T) {
	v := ended(t)
	s := v.Summary()
	if s.Tasks() != v.Tasks() || s.Name != v.Name || s.State != v.State || s.Plan.Name != v.Plan.Name || len(s.Vertices) != 2 || s.Vertices[0].Subtasks != nil || s.Failures != nil {
		t.Errorf("got %+v", s)
	}
	if len(v.Vertices[0].Subtasks) != 2 || len(v.Failures) != 1 {
		t.Error("the view itself was changed")
	}
}

func FuzzDecodeView(f *testing.F) {
	data, err := ended(f).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if v, err := DecodeView(data); err == nil {
			v.Summary()
		}
	})
}
