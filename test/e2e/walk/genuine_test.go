package walk

import (
	"encoding/json/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/testkit/recorded"
)

// golden is where the recordings of a genuine Flink lie, if they are there.
const golden = "../../../../shared/golden/walk"

// recording gives one by its name; nil: there are none here.
func (w *walker) recording(name string) *recorded.Recording {
	w.t.Helper()
	if _, err := os.Stat(golden); err != nil {
		return nil
	}
	all := recorded.LoadWalk(w.t)
	i := slices.IndexFunc(all, func(r *recorded.Recording) bool { return r.Name == name })
	if i < 0 {
		w.t.Fatalf("there is no recording %q", name)
	}
	return all[i]
}

// like holds an answer against a recorded one: it has the same shape, except at places
// where it is known to differ.
func (w *walker) like(name string, status int, body string, except []string) {
	w.t.Helper()
	r := w.recording(name)
	if r == nil {
		return
	}
	for _, difference := range r.Differences(status, body) {
		if !slices.ContainsFunc(except, func(place string) bool { return strings.HasPrefix(difference, place+":") }) {
			w.t.Errorf("%s: %s", name, difference)
		}
	}
}

// recordedAnswer gives what was answered there; false: there are no recordings here.
func (w *walker) recordedAnswer(name string) (answer any, there bool) {
	w.t.Helper()
	r := w.recording(name)
	if r == nil {
		return nil, false
	}
	if err := json.Unmarshal(r.Response.Body, &answer); err != nil {
		w.t.Fatal(err)
	}
	return answer, true
}

var (
	colour = regexp.MustCompile(`\\e\[[0-9;]*m`)
	// echo is what a genuine client repeats of a statement on a terminal that can nothing.
	echo = regexp.MustCompile(`(?m)^Flink SQL> .*?(\[(?:INFO|ERROR)\] |\+-)`)
	// reason is why a statement failed: of ours the texts are others, and tell more.
	reason = regexp.MustCompile(`(?s)(Could not execute SQL statement\. Reason:\n).*?\n\n`)
	// failing is what ours says of a script on standard error, which is not compared.
	failing = regexp.MustCompile(`(?m)^\S+: the statement in line \d+ failed: .*\n`)
)

// transcript holds what the SQL client printed against what a genuine one did: all of it
// but the times, the order of rows, the statements it repeats and the reason of a failure.
func (w *walker) transcript(name, ours string) {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(golden, name+".txt"))
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	_, printed, _ := strings.Cut(string(text), "--- stdout (contains ANSI escapes, kept as \\e)\n")
	printed, _, _ = strings.Cut(printed, "\n--- stderr")
	same := func(text string) string {
		text = echo.ReplaceAllString(colour.ReplaceAllString(text, ""), "Flink SQL> $1")
		return strings.TrimSpace(reason.ReplaceAllString(w.plain(text), "$1REASON\n\n"))
	}
	ours, _, _ = strings.Cut(failing.ReplaceAllString(ours, ""), "exit code")
	if got, want := same(ours), same(printed); got != want {
		w.t.Errorf("%s: the client printed\n%s\na genuine one\n%s", name, got, want)
	}
}

func TestAt(t *testing.T) {
	var answer any
	if err := json.Unmarshal([]byte(`{"a":[{"b":1},{"b":{"c":"x"}}],"d":null}`), &answer); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, field := range []string{"a.b", "d", "none"} {
		show(&out, field, at(answer, field))
	}
	if got, want := out.String(), "a.b: [1,{\"c\":\"x\"}]\nd: null\nnone: null\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
