package walk

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestWalk carries out the script. Its steps are
//
//	sh [like=TRANSCRIPT]   commands of a shell; like holds what is printed against a recorded session
//	get                    a path of the REST API, and lines of "show FIELD…" what to show of the answer,
//	                       "like RECORDING [except PLACE…]" whose shape it has, "same FIELD…" what
//	                       has the same value there
//	until                  a path, and "FIELD: VALUE" lines that are waited for
//
// In paths :job is the job that was submitted last and :taskmanager the TaskManager; in
// commands they are $JOB and $TASKMANAGER.
func TestWalk(t *testing.T) {
	w := newWalker(t)
	datadriven.RunTest(t, "testdata/walk", func(t *testing.T, d *datadriven.TestData) string {
		w.t = t
		switch d.Cmd {
		case "sh":
			out := w.shell(d.Input)
			if d.HasArg("like") {
				var transcript string
				d.ScanArgs(t, "like", &transcript)
				w.transcript(transcript, out)
			}
			return out
		case "get":
			return w.get(d.Input)
		case "until":
			return w.until(d.Input)
		}
		d.Fatalf(t, "unknown step %s", d.Cmd)
		return ""
	})
}

// get reads a path and tells of the answer what is to be shown.
func (w *walker) get(input string) string {
	path, rest, _ := strings.Cut(input, "\n")
	status, body, answer := w.ask(path)
	if status != 200 {
		return fmt.Sprintf("status %d: %s\n", status, w.plain(body))
	}
	var out strings.Builder
	like := ""
	for line := range strings.Lines(rest) {
		words := strings.Fields(line)
		switch words[0] {
		case "show":
			for _, field := range words[1:] {
				show(&out, field, at(answer, field))
			}
		case "like":
			like = words[1]
			w.like(like, status, body, words[2:])
		case "same":
			recorded, there := w.recordedAnswer(like)
			for _, field := range words[1:] {
				if ours, theirs := at(answer, field), at(recorded, field); there && !reflect.DeepEqual(ours, theirs) {
					w.t.Errorf("%s: %s is %v, in the recording %s it is %v", path, field, ours, like, theirs)
				}
			}
		default:
			w.t.Fatalf("%q: want show, like or same", line)
		}
	}
	return w.plain(out.String())
}

// patience bounds every wait; nothing asserts that it took less.
const patience = time.Minute

// until waits until fields of an answer have values.
func (w *walker) until(input string) string {
	path, rest, _ := strings.Cut(input, "\n")
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for limit := time.Now().Add(patience); ; <-poll.C {
		var out strings.Builder
		status, _, answer := w.ask(path)
		for line := range strings.Lines(rest) {
			field, _, _ := strings.Cut(line, ":")
			show(&out, field, at(answer, field))
		}
		if status == 200 && strings.TrimSpace(out.String()) == strings.TrimSpace(rest) {
			return ""
		}
		if time.Now().After(limit) {
			w.t.Fatalf("%s: not within %v, but status %d and\n%s", path, patience, status, out.String())
		}
	}
}

// TestMain builds the binary that is walked with.
func TestMain(m *testing.M) { os.Exit(built(m)) }
