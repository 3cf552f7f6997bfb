package sqlclient

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sqlgateway/client"
	"github.com/weirstream/weir/internal/testkit/recorded"
	"github.com/weirstream/weir/types"
)

var codes = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]`)

// shown is what a screen shows, without escape codes and space at the ends of lines.
func shown(s *screen) []string {
	var all []string
	for _, line := range s.draw() {
		all = append(all, strings.TrimRight(codes.ReplaceAllString(line, ""), " "))
	}
	return all
}

func text(s string) *string { return &s }

func numbered(n int) []client.Row {
	var rows []client.Row
	for i := range n {
		rows = append(rows, client.Row{Fields: []*string{text(fmt.Sprint(i + 1)), text("x"), nil}})
	}
	return rows
}

func numbers(changes bool) *screen {
	s := newScreen(columns("i", types.Of(types.Int), "t", types.String(), "n", types.Of(types.Int)), changes, 30)
	s.columns, s.height = 100, 24
	return s
}

// TestATableIsDrawnAsRecorded compares a screen with what a terminal showed of Flink's.
func TestATableIsDrawnAsRecorded(t *testing.T) {
	all, err := os.ReadFile(recorded.Material(t, "golden/cli/sqlclient-embedded-interactive-table-mode.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(all), "--- send 'n'\n--- screen after 2s\n")
	rest, _, _ = strings.Cut(rest, "--- end of screen")
	want := strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
	s := numbers(false)
	s.updated = "17:33:05.731"
	for i, line := range want {
		fields := strings.Fields(line)
		if i > 3 && len(fields) == 3 {
			s.rows = append(s.rows, client.Row{Fields: []*string{text(fields[0]), text(fields[1]), nil}})
		}
		want[i] = strings.TrimRight(line, " ")
	}
	got := shown(s)
	for i := range want {
		if i < len(got) && got[i] != want[i] {
			t.Errorf("line %d:\n%q\nin the recording\n%q", i, got[i], want[i])
		}
	}
	if len(s.rows) != 12 {
		t.Errorf("%d rows in the recording", len(s.rows))
	}
}

func TestKeys(t *testing.T) {
	s := numbers(false)
	s.rows = numbered(50) // three pages of 18
	for _, c := range []struct{ keys, page, first string }{
		{"", "Last of 3", "37"}, {"p", "2 of 3", "19"}, {"p", "1 of 3", "1"}, {"p", "1 of 3", "1"}, {"n", "2 of 3", "19"}, {"l", "Last of 3", "37"},
		{"g 2 \r", "2 of 3", "19"}, {"g 9 \x7f 1 \r", "1 of 3", "1"}, {"g 9 \r", "Last of 3", "37"}, {"g x \x1b", "Last of 3", "37"},
	} {
		for k := range strings.FieldsSeq(strings.ReplaceAll(c.keys, "\r", "ENTER")) {
			s.press(strings.ReplaceAll(k, "ENTER", "\r"))
		}
		lines := shown(s)
		if !strings.Contains(lines[1], "Page: "+c.page) || strings.Fields(lines[4])[0] != c.first {
			t.Errorf("after %q: %s; %s", c.keys, lines[1], lines[4])
		}
	}
	s.press("+")
	if !strings.Contains(shown(s)[1], "Refresh: 5 s") {
		t.Error(shown(s)[1])
	}
	s.press("\x1b[B")
	s.press("\x1b[B")
	s.press("o")
	if got := strings.Join(shown(s), "\n"); !strings.Contains(got, "Row Summary") || !strings.Contains(got, " i:\n   38\n t:\n   x\n n:\n   <NULL>\n") {
		t.Error(got)
	}
	s.press("q")
	s.press("\x1b[C")
	if got := strings.Fields(shown(s)[3]); len(got) != 2 || got[0] != "t" {
		t.Error(got)
	}
	if leave, _ := s.press("q"); !leave {
		t.Error("q does not leave")
	}
	if _, refresh := s.press("r"); !refresh {
		t.Error("r does not refresh")
	}
}

func TestAChangelogShowsChanges(t *testing.T) {
	change := func(k batch.RowKind, v string) client.Row {
		return client.Row{Kind: k, Fields: []*string{text(v), nil, nil}}
	}
	rows := []client.Row{change(batch.Insert, "1"), change(batch.Insert, "2"), change(batch.UpdateBefore, "1"), change(batch.UpdateAfter, "3"), change(batch.Delete, "9")}
	for _, changes := range []bool{true, false} {
		st := &store{changes: changes, limit: 4}
		st.add(rows, nil)
		var got []string
		all, _, _ := st.snapshot()
		for _, r := range all {
			got = append(got, opNames[r.Kind]+*r.Fields[0])
		}
		want := "[+I2 +U3]"
		if changes {
			want = "[+I2 -U1 +U3 -D9]"
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%v: %v, want %s", changes, got, want)
		}
	}
	s := numbers(true)
	s.rows = rows
	if line := shown(s)[6]; !strings.HasPrefix(line, " -U           1") {
		t.Errorf("%q", line)
	}
	if !strings.Contains(shown(s)[0], "SQL Query Result (Changelog)") {
		t.Error(shown(s)[0])
	}
}

func TestASmallScreen(t *testing.T) {
	s := numbers(false)
	s.rows = numbered(5)
	for _, size := range [][2]int{{1, 1}, {20, 3}, {30, 7}} {
		s.columns, s.height = size[0], size[1]
		for _, k := range []string{"n", "\x1b[B", "o", "q", "g", "\x1b"} {
			s.press(k)
			s.draw() // it must not panic
		}
	}
}
