package rest

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// adaptiveView is a job whose parallelism follows the slots there are, as it was in
// the recorded situations of which the names begin so.
func adaptiveView(situation string) execgraph.View {
	v := checkpointed(runningView(adaptive))
	v.Plan = wordCount(adaptive)
	for i, id := range adaptiveVertices() { // those of the recordings, which requests name
		v.Plan.Vertices[i].ID, v.Vertices[i].ID = id, id
		if i > 0 {
			v.Plan.Vertices[i].Inputs[0].Source = v.Plan.Vertices[0].ID
		}
	}
	a := &execgraph.AdaptiveView{Settings: execgraph.AdaptiveSettings{
		WaitTimeout: 5 * time.Minute, Stabilization: 2 * time.Second, SlotIdle: 50 * time.Second, Cooldown: time.Second,
		RescaleStabilization: time.Minute, MaxDelay: 3 * time.Second, CheckpointFailures: 2,
	}}
	v.Adaptive = a
	for range v.Vertices {
		a.Bounds = append(a.Bounds, execgraph.Bounds{Lower: 1, Upper: 2})
	}
	switch situation {
	case "adaptive-waiting-":
		v.State = status.JobCreated
		v.Coordinators = nil
		for _, vertex := range v.Vertices {
			*vertex = execgraph.VertexView{ID: vertex.ID, Name: vertex.Name, Parallelism: 2, MaxParallelism: 128, SlotSharingGroup: vertex.SlotSharingGroup}
		}
	case "adaptive-rescales-", "rescales2-":
		a.Settings.History = 10
		first := rescaleView(&v, 1, execgraph.RescaleInitial, 0, 2)
		second := rescaleView(&v, 2, execgraph.RescaleRequirements, 2, 1)
		first.ID, _ = ident.Parse("cc0ddd6beea3a3dea71ed97ed18a2d91") // as recorded
		second.ID, _ = ident.Parse("89af5e31c5ed3ea276d66efc03623763")
		second.Stopped = second.Begin.Add(634 * time.Millisecond)
		second.Ended, second.Placed = second.Stopped.Add(140*time.Millisecond), second.Stopped.Add(250*time.Millisecond)
		a.Rescales, a.Completed, a.Last, a.Rescaled = []execgraph.Rescale{second, first}, 2, &second, 1
		if situation == "adaptive-rescales-" {
			a.Settings.History, a.Rescales = 0, nil
		}
	}
	return v
}

func adaptiveVertices() (all []ident.VertexID) {
	for _, text := range []string{"cbc357ccb763df2852fee8c4fc7d55f2", "c27dcf7b54ef6bfd6cff02ca8870b681"} {
		var id ident.VertexID
		if err := id.UnmarshalText([]byte(text)); err != nil {
			panic(err)
		}
		all = append(all, id)
	}
	return all
}

// rescaleView is a completed rescale of all vertices.
func rescaleView(v *execgraph.View, number byte, cause string, before, after int) execgraph.Rescale {
	begin := epoch.Add(time.Duration(number) * 10 * time.Second)
	r := execgraph.Rescale{ID: ident.ID{number}, Requirements: ident.ID{number, 1}, Attempt: 1, Cause: cause, State: execgraph.RescaleCompleted, Reason: "SUCCEEDED",
		Begin: begin, End: begin.Add(885 * time.Millisecond)}
	for _, vertex := range v.Vertices {
		r.Vertices = append(r.Vertices, execgraph.RescaledVertex{ID: vertex.ID, Name: vertex.Name, Group: "default", Desired: after, Sufficient: 1, Before: before, After: after})
	}
	r.Groups = []execgraph.RescaledGroup{{Name: "default", Desired: after, Sufficient: 1, Before: before, After: after}}
	for i, state := range []string{"Executing", "Restarting", "CreatingExecutionGraph", "Executing"} {
		at := begin.Add(time.Duration(i) * 200 * time.Millisecond)
		r.Spans = append(r.Spans, execgraph.SchedulerSpan{State: state, Enter: at, Leave: at.Add(200 * time.Millisecond)})
	}
	return r
}

func TestRequirements(t *testing.T) {
	w := newWorld()
	job := adaptiveView("adaptive-running-")
	reactive := adaptiveView("adaptive-running-")
	reactive.Job = id(0x18)
	reactive.Adaptive.Settings.Reactive = true
	w.jobs.views = append(w.jobs.views, job, reactive)
	s := w.server(t)
	vertices := adaptiveVertices()
	body := func(a, b string) string {
		return strings.NewReplacer("@1", vertices[0].String(), "@2", vertices[1].String()).Replace(
			`{"@1":{"parallelism":{"lowerBound":` + a + `}},"@2":{"parallelism":{"lowerBound":` + b + `}}}`)
	}
	for _, test := range []struct{ job, method, body, want string }{
		{adaptive.String(), http.MethodPut, body(`1,"upperBound":3`, `2,"upperBound":2`), "200 {}"},
		{adaptive.String(), http.MethodPut, body(`-1,"upperBound":-1`, `1,"upperBound":2`),
			"400 Both, the requested lower bound [-1] and upper bound [-1] for job vertex [" + vertices[0].String() + "] must be greater than zero."},
		{adaptive.String(), http.MethodPut, body(`"two","upperBound":3`, `2,"upperBound":2`), "400 parallelism.lowerBound is"},
		{adaptive.String(), http.MethodPut, body(`1`, `2,"upperBound":2`), "400 Both, the requested lower bound [1] and upper bound [0]"},
		{running.String(), http.MethodGet, "", "400 The DefaultScheduler does not support changing the parallelism"},
		{running.String(), http.MethodPut, body(`1,"upperBound":3`, `2,"upperBound":2`), "400 The DefaultScheduler does not support changing the parallelism"},
		{reactive.Job.String(), http.MethodPut, body(`1,"upperBound":3`, `2,"upperBound":2`), "400 Cannot change the parallelism of a job running in reactive mode."},
		{finished.String(), http.MethodGet, "", "404 not found"},
		{finished.String(), http.MethodPut, body(`1,"upperBound":3`, `2,"upperBound":2`), "404 not found"},
		{id(0x77).String(), http.MethodGet, "", "404 not found"},
	} {
		got := ask(t, s, test.method, "/jobs/"+test.job+"/resource-requirements", test.body)
		code, text, _ := strings.Cut(test.want, " ")
		if code != strconv.Itoa(got.Code) || !strings.Contains(got.Body.String(), text) {
			t.Errorf("%s %s %s:\n got %d %s\nwant %s", test.method, test.job, test.body, got.Code, got.Body, test.want)
		}
	}
	if want := (execgraph.Bounds{Lower: 2, Upper: 2}); len(w.jobs.required) != 2 || w.jobs.required[1] != want {
		t.Errorf("required %v", w.jobs.required)
	}
}

// TestOutageIsShown asks for a rescale in which the job did not run for a while.
func TestOutageIsShown(t *testing.T) {
	w := newWorld()
	w.jobs.views = []execgraph.View{adaptiveView("rescales2-")}
	s := w.server(t)
	got := ask(t, s, http.MethodGet, "/jobs/"+adaptive.String()+"/rescales/details/"+w.jobs.views[0].Adaptive.Rescales[0].ID.String(), "").Body.String()
	if want := `"outageInMillis":251,"endingInMillis":140,"placingInMillis":110,"deployingInMillis":1`; !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	got = ask(t, s, http.MethodGet, "/jobs/"+adaptive.String(), "").Body.String()
	if want := `"lastRescale":{"triggerCause":"UPDATE_REQUIREMENT","stoppedTimestampInMillis":1795970572579,"changes":"Source: text -> words 2 → 1, count 2 → 1",` +
		`"outageInMillis":251,"endingInMillis":140,"placingInMillis":110,"deployingInMillis":1}`; !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	got = ask(t, s, http.MethodGet, "/jobs/"+adaptive.String()+"/metrics?get=numRescales", "").Body.String()
	if want := `[{"id":"numRescales","value":"1"}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
