package pattern

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// The scripts in testdata say what a pattern finds. A pattern is given as
//
//	find pattern=(A+ B{2,3}? C) skip=(to first B) within=3
//
// and rows as lines: of which elements each may be, and its time, which otherwise is one
// later than the last one's. A condition of an element may look at the run: 'A<3' is A
// while it has fewer than 3 rows, and 'B@A>1' is B after more than one row of A.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "find" {
				t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			}
			return find(t, d)
		})
	})
}

func find(t *testing.T, d *datadriven.TestData) string {
	names, elements := parse(t, strings.Join(arg(d, "pattern"), ","))
	if at, err := Check(elements); err != nil {
		return fmt.Sprintf("element %d: %s\n", at+1, err)
	}
	a, err := Compile(elements, d.HasArg("first"), d.HasArg("last"))
	if err != nil {
		return err.Error() + "\n"
	}
	within := int64(0)
	if w := arg(d, "within"); w != nil {
		within, _ = strconv.ParseInt(w[0], 10, 64)
	}
	m := NewMatcher(a, skip(t, names, strings.Join(arg(d, "skip"), " ")), within)
	var out strings.Builder
	tell := func(when string, err error) {
		for _, r := range m.Found() {
			rows := m.Rows(r)
			fmt.Fprintf(&out, "%s: %d", when, rows.Start+1)
			for e, n := range names {
				from, to := rows.Span(e)
				fmt.Fprintf(&out, " %s=%d", n, to-from)
			}
			out.WriteString("\n")
		}
		if err != nil {
			fmt.Fprintf(&out, "%s: error: %s\n", when, err)
		}
	}
	time := int64(0)
	lines := strings.Split(strings.TrimSpace(d.Input), "\n")
	for i, line := range lines {
		time++
		c := &script{names: names}
		for _, word := range strings.Fields(line) {
			if n, err := strconv.ParseInt(word, 10, 64); err == nil {
				time = n
			} else {
				c.holds = append(c.holds, word)
			}
		}
		err := m.Row(time, i == len(lines)-1, c)
		tell(strconv.Itoa(i+1), err)
		if err != nil {
			return out.String()
		}
		if again := restored(t, m); again != nil {
			m = again
		}
	}
	tell("end", m.End())
	return out.String()
}

// restored is a matcher with the state of another, which it has through its bytes.
func restored(t *testing.T, m *Matcher) *Matcher {
	again := NewMatcher(m.automaton, m.skip, m.within)
	text := m.AppendState(nil)
	if err := again.RestoreState(text); err != nil {
		t.Fatal(err)
	}
	if string(again.AppendState(nil)) != string(text) {
		t.Fatal("the state is another when it has been read")
	}
	return again
}

func FuzzRestoreState(f *testing.F) {
	a, err := Compile([]Element{{Min: 1, Max: -1}, {Min: 0, Max: 2, Reluctant: true}, One}, false, false)
	if err != nil {
		f.Fatal(err)
	}
	m := NewMatcher(a, Skip{}, 5)
	f.Add(m.AppendState(nil))
	for time := range int64(3) {
		if err := m.Row(time, false, &script{names: []string{"A", "B", "C"}, holds: []string{"A", "B"}}); err != nil {
			f.Fatal(err)
		}
		f.Add(m.AppendState(nil))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m := NewMatcher(a, Skip{}, 5)
		if m.RestoreState(text) != nil {
			return
		}
		again := NewMatcher(a, Skip{}, 5)
		if err := again.RestoreState(m.AppendState(nil)); err != nil {
			t.Errorf("the state of %x is not read again: %v", text, err)
		}
	})
}

func arg(d *datadriven.TestData, key string) []string {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			return a.Vals
		}
	}
	return nil
}

var quantified = regexp.MustCompile(`^([A-Z])(\*|\+|\?|\{(\d*)(,?)(\d*)\})?(\??)$`)

func parse(t *testing.T, text string) (names []string, elements []Element) {
	for _, word := range strings.Fields(text) {
		p := quantified.FindStringSubmatch(word)
		if p == nil {
			t.Fatalf("%q is no element", word)
		}
		e := Element{Min: 1, Max: 1, Reluctant: p[6] != ""}
		number := func(s string, otherwise int) int {
			if n, err := strconv.Atoi(s); err == nil {
				return n
			}
			return otherwise
		}
		switch {
		case p[2] == "*":
			e.Min, e.Max = 0, -1
		case p[2] == "+":
			e.Max = -1
		case p[2] == "?":
			e.Min = 0
		case p[2] != "":
			if e.Min = number(p[3], -1); p[4] == "" {
				e.Max = e.Min
			} else {
				e.Max = number(p[5], -1)
			}
		}
		names, elements = append(names, p[1]), append(elements, e)
	}
	return names, elements
}

func skip(t *testing.T, names []string, text string) Skip {
	words := strings.Fields(text)
	element := func() int {
		for i, n := range names {
			if n == words[len(words)-1] {
				return i
			}
		}
		t.Fatalf("%q names no element", text)
		return 0
	}
	switch {
	case text == "":
		return Skip{}
	case text == "past last row":
		return Skip{Kind: PastLastRow}
	case words[1] == "first":
		return Skip{Kind: ToFirst, Element: element()}
	case words[1] == "last":
		return Skip{Kind: ToLast, Element: element()}
	}
	t.Fatalf("%q is no place", text)
	return Skip{}
}

// script are the conditions that hold for a row.
type script struct {
	names, holds []string
}

func (s *script) Plain(element int) (holds, known bool) {
	for _, h := range s.holds {
		if h[0] == s.names[element][0] {
			return len(h) == 1, len(h) == 1
		}
	}
	return false, true
}

func (s *script) Test(element int, runs []Rows, holds []bool) {
	for _, h := range s.holds {
		if h[0] != s.names[element][0] {
			continue
		}
		about, op := element, strings.IndexAny(h, "<>")
		if h[1] == '@' {
			for i, n := range s.names {
				if n == h[2:op] {
					about = i
				}
			}
		}
		limit, _ := strconv.Atoi(h[op+1:])
		for i, r := range runs {
			from, to := r.Span(about)
			if n := int(to - from); h[op] == '<' {
				holds[i] = n < limit
			} else {
				holds[i] = n > limit
			}
		}
	}
}
