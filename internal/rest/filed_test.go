package rest

import (
	"slices"
	"testing"

	"github.com/weirstream/weir/internal/execgraph"
)

// TestFiledJobsAreAnsweredAlike compares the answers about jobs that were written
// to files and read again, and lists made of summaries, with those from memory.
func TestFiledJobsAreAnsweredAlike(t *testing.T) {
	w, filed, listed := newWorld(), newWorld(), newWorld()
	for i := range w.jobs.views {
		v := w.jobs.views[i]
		data, err := v.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if filed.jobs.views[i], err = execgraph.DecodeView(data); err != nil {
			t.Fatal(err)
		}
		if v.State.GloballyTerminal() {
			listed.jobs.views[i] = v.Summary()
		}
	}
	memory, files, lists := w.server(t), filed.server(t), listed.server(t)
	compared := 0
	for _, path := range []string{"/jobs", "/jobs/overview", "/overview", "/applications/overview", "/taskmanagers", "/jobmanager/metrics", "/jobs/metrics?get=runningTime,numRestarts"} {
		if got, want := ask(t, lists, "GET", path, "").Body.String(), ask(t, memory, "GET", path, "").Body.String(); got != want {
			t.Errorf("%s of summaries:\n%s\nwant\n%s", path, got, want)
		}
	}
	for i := range memory.routes {
		r := &memory.routes[i]
		if r.method != "GET" || r.acts || !slices.Contains(r.pattern, ":jobid") {
			continue
		}
		for _, job := range []string{finished.String(), failed.String(), cancelled.String(), batch.String()} {
			path := fill(r.pattern, job)
			want, got := ask(t, memory, "GET", path, ""), ask(t, files, "GET", path, "")
			compared++
			if got.Code != want.Code || got.Body.String() != want.Body.String() {
				t.Errorf("%s of a file: %d\n%s\nwant %d\n%s", path, got.Code, got.Body, want.Code, want.Body)
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d answers were compared", compared)
	}
}
