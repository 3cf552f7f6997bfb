package files

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/coordinator/files/split"
)

func TestPack(t *testing.T) {
	for _, test := range []struct {
		name  string
		bytes int64
		files string // path:size …
		want  string // splits by |, files path[offset+length]
	}{
		{"nothing", 10, "", ""},
		{"sorted and once", 10, "b:1 a:2 b:1", "a[0+2] b[0+1]"},
		{"empty files are left out", 10, "a:0 b:1", "b[0+1]"},
		{"small ones share", 10, "a:4 b:6 c:1", "a[0+4] b[0+6] | c[0+1]"},
		{"next split when full", 10, "a:4 b:7 c:2", "a[0+4] | b[0+7] c[0+2]"},
		{"large one is cut", 10, "a:37", "a[0+10] | a[10+10] | a[20+10] | a[30+7]"},
		{"the last part may be larger", 10, "a:24", "a[0+10] | a[10+14]"},
		{"not cut below one and a half", 10, "a:15", "a[0+15]"},
		{"what is compressed is not cut", 10, "a.gz:37", "a.gz[0+37]"},
		{"the rest shares", 10, "a:22 b:1", "a[0+10] | a[10+12] | b[0+1]"},
	} {
		var found []Found
		for _, word := range strings.Fields(test.files) {
			var f Found
			fmt.Sscanf(strings.Replace(word, ":", " ", 1), "%s %d", &f.Path, &f.Size)
			found = append(found, f)
		}
		var lines []string
		for i, s := range pack(found, split.Spec{SplitBytes: test.bytes}) {
			if s.ID != i {
				t.Errorf("%s: split %d has id %d", test.name, i, s.ID)
			}
			lines = append(lines, show(s))
		}
		if got := strings.Join(lines, " | "); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

func show(s *split.Split) string {
	var words []string
	for _, f := range s.Files {
		words = append(words, fmt.Sprintf("%s[%d+%d]", f.Path, f.Offset, f.Length))
	}
	return strings.Join(words, " ")
}

// still is a loop that does what it is told when it is told.
type still struct{ posted []func() }

func (l *still) Post(f func())                           { l.posted = append(l.posted, f) }
func (l *still) After(time.Duration, func()) actor.Timer { panic("no timer is needed") }
func (l *still) Go(work func(), then func())             { l.Post(func() { work(); then() }) }
func (l *still) Now() time.Time                          { panic("no clock is needed") }
func (l *still) Rand() *rand.Rand                        { panic("nothing is random") }
func (l *still) run() {
	for len(l.posted) > 0 {
		f := l.posted[0]
		l.posted = l.posted[1:]
		f()
	}
}

type source struct {
	t      *testing.T
	loop   still
	c      coordinator.Coordinator
	failed error
	sized  string
}

func newSource(t *testing.T, list List) *source {
	s := &source{t: t}
	c, err := Factory(list)(coordinator.Context{Loop: &s.loop, Name: "Source", Parallelism: 2,
		Spec: `{"patterns":["in/*"],"splitBytes":10}`, Fail: func(err error) { s.failed = err }, Sized: func(splits int, bytes int64) { s.sized = fmt.Sprint(splits, bytes) }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.c = c
	return s
}

// ask gives what the coordinator answers: files, "done", an error, or "waits".
func (s *source) ask(subtask, attempt int, sequence int64) *string {
	answer := "waits"
	request, _ := json.Marshal(split.Request{Sequence: sequence})
	s.c.HandleRequest(subtask, attempt, request, func(payload []byte, err error) {
		var response split.Response
		switch {
		case err != nil:
			answer = err.Error()
		case json.Unmarshal(payload, &response) != nil:
			answer = "broken: " + string(payload)
		case response.Done:
			answer = "done"
		default:
			answer = show(response.Split)
		}
	})
	return &answer
}

func (s *source) expect(what string, got *string, want string) {
	s.t.Helper()
	if *got != want {
		s.t.Errorf("%s: got %q, want %q", what, *got, want)
	}
}

func three(string) ([]Found, error) {
	return []Found{{"in/c", 9}, {"in/a", 8}, {"in/b", 7}}, nil
}

func TestSplitsAreHandedOut(t *testing.T) {
	s := newSource(t, three)
	s.c.Start()
	early := s.ask(1, 0, 1)
	s.expect("before the files are listed", early, "waits")
	left := func() string { return fmt.Sprint(s.c.(coordinator.Enumerating).Unassigned()) }
	if left() != "0 false" {
		t.Errorf("left before the files are listed: %s", left())
	}
	s.loop.run()
	s.expect("then", early, "in/a[0+8]")
	if s.sized != "3 24" {
		t.Errorf("splits and bytes: %q", s.sized)
	}
	if left() != "2 true" {
		t.Errorf("left after the first: %s", left())
	}
	s.expect("the same request again", s.ask(1, 0, 1), "in/a[0+8]")
	s.expect("the next", s.ask(0, 0, 1), "in/b[0+7]")
	s.expect("the last", s.ask(1, 0, 2), "in/c[0+9]")
	s.expect("no more", s.ask(0, 0, 2), "done")
	s.expect("a repetition that is late", s.ask(1, 0, 1), "request 1 of attempt 0 of subtask 1 comes after request 2 of attempt 0")
	s.c.SubtaskFailed(1, 0)
	s.c.Reset(1)
	if left() != "2 true" {
		t.Errorf("left after two were taken back: %s", left())
	}
	s.expect("of a failed subtask", s.ask(1, 1, 1), "in/a[0+8]")
	s.expect("of the attempt before", s.ask(1, 0, 3), "request 3 of attempt 0 of subtask 1 comes after request 1 of attempt 1")
	s.expect("to the other", s.ask(0, 0, 3), "in/c[0+9]")
	s.expect("no more", s.ask(1, 1, 2), "done")
	s.c.Close()
	s.expect("after the end", s.ask(1, 1, 3), "the job has ended")
}

func TestWhatCannotBeRead(t *testing.T) {
	for _, test := range []struct {
		list List
		want string
	}{
		{func(string) ([]Found, error) { return nil, nil }, `no file matches "in/*"`},
		{func(string) ([]Found, error) { return nil, errors.New("open in: permission denied") }, `list the files of "in/*": open in: permission denied`},
	} {
		s := newSource(t, test.list)
		s.c.Start()
		waits := s.ask(0, 0, 1)
		s.loop.run()
		if fmt.Sprint(s.failed) != test.want {
			t.Errorf("got %v, want %s", s.failed, test.want)
		}
		s.c.Close()
		s.expect("who waited", waits, "the job has ended")
	}
}

// TestFilesAreListedAgain restarts a job whose files could not be listed.
func TestFilesAreListedAgain(t *testing.T) {
	broken := true
	s := newSource(t, func(pattern string) ([]Found, error) {
		if broken {
			return nil, errors.New("permission denied")
		}
		return three(pattern)
	})
	s.c.Start()
	s.ask(0, 0, 1)
	s.loop.run()
	broken = false
	for subtask := range 2 {
		s.c.SubtaskFailed(subtask, 0)
		s.c.Reset(subtask)
	}
	first := s.ask(0, 1, 1)
	s.expect("at first", first, "waits")
	s.loop.run()
	s.expect("then", first, "in/a[0+8]")
	s.expect("the next", s.ask(1, 1, 1), "in/b[0+7]")
}

func TestSpecification(t *testing.T) {
	for spec, want := range map[string]string{
		`{`:                                  "read its specification",
		`{"patterns":[]}`:                    `"patterns" is empty`,
		`{"patterns":["a"],"splitBytes":-1}`: `"splitBytes" is -1`,
	} {
		if _, err := Factory(three)(coordinator.Context{Spec: spec}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", spec, err, want)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"sequence":1}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		s := newSource(t, three)
		s.c.Start()
		s.loop.run()
		answered := 0
		s.c.HandleRequest(0, 0, payload, func([]byte, error) { answered++ })
		if answered != 1 {
			t.Errorf("answered %d times", answered)
		}
	})
}
