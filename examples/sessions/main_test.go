package main

import (
	"slices"
	"testing"
	"time"

	"github.com/weirstream/weir/stream"
	"github.com/weirstream/weir/stream/streamtest"
)

func TestSessions(t *testing.T) {
	late := streamtest.NewOutput[click]("late")
	clicks, lines := streamtest.NewInput[string]("clicks"), streamtest.NewOutput[string]("sessions")
	streamtest.New(t, func(h *streamtest.Harness) {
		sessions, tooLate := sessionise(clicks.Stream(h).Process(func() stream.ProcessFunction[string, click] { return parser{} }))
		lines.Of(h, sessions.Map(line))
		late.Of(h, tooLate)
	})
	clicks.SendUntimed(
		"ada,2024-05-17T09:00:00Z,/",
		"bob,2024-05-17T09:05:00Z,/",
		"ada,2024-05-17T09:20:00Z,/a",
		"ada,2024-05-17T09:19:30Z,/b", // out of order, in time
		"bob,2024-05-17T10:00:00Z,/c", // the first sessions are over
		"ada,2024-05-17T09:21:00Z,/d", // too late
	)
	if got, want := lines.Values(), []string{"bob,2024-05-17T09:05:00Z,0s,1", "ada,2024-05-17T09:00:00Z,20m0s,3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := late.Values(); len(got) != 1 || got[0].Page != "/d" {
		t.Errorf("late: %v", got)
	}
	clicks.Watermark(time.Date(2024, 5, 18, 0, 0, 0, 0, time.UTC)) // the pipeline makes its own
	if got := lines.Values(); len(got) != 0 {
		t.Errorf("got %q", got)
	}
	clicks.Finish()
	if got, want := lines.Values(), []string{"bob,2024-05-17T10:00:00Z,0s,1"}; !slices.Equal(got, want) {
		t.Errorf("at the end: got %q, want %q", got, want)
	}
}
