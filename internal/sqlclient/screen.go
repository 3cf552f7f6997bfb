package sqlclient

import (
	"fmt"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/sqlgateway/client"
	"github.com/weirstream/weir/types"
)

// intervals are how often a view looks for new rows; 0: as often as it can, -1: when it is
// told to.
var intervals = []struct {
	every time.Duration
	name  string
}{
	{0, "Fastest"}, {100 * time.Millisecond, "100 ms"}, {500 * time.Millisecond, "500 ms"}, {time.Second, "1 s"},
	{5 * time.Second, "5 s"}, {10 * time.Second, "10 s"}, {time.Minute, "1 min"}, {-1, "-"},
}

// frame are the lines of a view that hold no rows.
const frame = 6

// A screen is what a view shows: a pure function of it is what is drawn.
type screen struct {
	columns, height int
	table           *tableau
	changes         bool

	rows     []client.Row
	updated  string
	interval int
	page     int // from 0; -1: the last one, whichever that is
	selected int // row of the page; -1: none
	left     int // columns scrolled out on the left
	asking   string
	input    string
	open     bool // the selected row is shown by itself
}

// newScreen shows nothing yet.
func newScreen(columns []types.Field, changes bool, limit int) *screen {
	t := byType(nil, columns, limit)
	if !changes {
		t.ops, t.names, t.widths = false, t.names[1:], t.widths[1:]
	}
	return &screen{table: t, changes: changes, interval: 3, page: -1, selected: -1, updated: "Unknown", columns: 80, height: 24}
}

func (s *screen) pageRows() int { return max(s.height-frame, 1) }

func (s *screen) pages() int { return max((len(s.rows)+s.pageRows()-1)/s.pageRows(), 1) }

// current is the page that is shown, from 0.
func (s *screen) current() int {
	if s.page < 0 {
		return s.pages() - 1
	}
	return min(s.page, s.pages()-1)
}

// visible are the rows of the page.
func (s *screen) visible() []client.Row {
	first := s.current() * s.pageRows()
	return s.rows[min(first, len(s.rows)):min(first+s.pageRows(), len(s.rows))]
}

// press changes the screen by a key. It reports whether the view is to be left.
func (s *screen) press(k string) (leave, refresh bool) {
	if s.asking != "" {
		s.answer(k)
		return false, false
	}
	if s.open {
		s.open = k != "q" && k != "Q" && k != "\x1b" && k != "\x03"
		return false, false
	}
	switch k {
	case "q", "Q", "\x03", "\x04":
		return true, false
	case "r", "R":
		return false, true
	case "+":
		s.interval = min(s.interval+1, len(intervals)-1)
	case "-":
		s.interval = max(s.interval-1, 0)
	case "l", "L":
		s.page, s.selected = -1, -1
	case "n", "N":
		s.turn(s.current() + 1)
	case "p", "P":
		s.turn(max(s.current()-1, 0))
	case "g", "G":
		s.asking, s.input = "Page: ", ""
	case "o", "O", "\r":
		s.open = s.selected >= 0 || len(s.visible()) > 0
		s.selected = max(s.selected, 0)
	case "\x1b[A", "\x1bOA":
		s.selected = max(s.selected-1, 0)
	case "\x1b[B", "\x1bOB":
		s.selected = min(s.selected+1, len(s.visible())-1)
	case "\x1b[C", "\x1bOC":
		s.left = min(s.left+1, len(s.table.names)-1)
	case "\x1b[D", "\x1bOD":
		s.left = max(s.left-1, 0)
	}
	return false, false
}

func (s *screen) turn(page int) {
	s.selected = -1
	if page >= s.pages() {
		s.page = -1
		return
	}
	s.page = page
}

// answer takes a key for the number of a page.
func (s *screen) answer(k string) {
	switch {
	case k == "\r" || k == "\n":
		n := 0
		if _, err := fmt.Sscanf(s.input, "%d", &n); err == nil && n > 0 {
			s.turn(n - 1)
		}
		s.asking = ""
	case k == "\x1b" || k == "\x03":
		s.asking = ""
	case k == "\x7f" && s.input != "":
		s.input = s.input[:len(s.input)-1]
	case len(k) == 1 && k[0] >= '0' && k[0] <= '9' && len(s.input) < 9:
		s.input += k
	}
}

const (
	inverse   = "\x1b[7m"
	underline = "\x1b[4m"
)

// draw gives the lines of the screen.
func (s *screen) draw() []string {
	if s.open {
		return s.drawRow()
	}
	title := "SQL Query Result (Table)"
	if s.changes {
		title = "SQL Query Result (Changelog)"
	}
	page := fmt.Sprintf("Page: %d of %d", s.current()+1, s.pages())
	if s.page < 0 {
		page = fmt.Sprintf("Page: Last of %d", s.pages())
	}
	all := []string{
		inverse + centred(title, s.columns) + noColor,
		inverse + spread(" Refresh: "+intervals[s.interval].name, page, "Updated: "+s.updated+" ", s.columns) + noColor,
		"",
		" " + underline + strings.TrimPrefix(s.cells(s.table.names), " ") + noColor,
	}
	for i, r := range s.visible() {
		line := s.cells(s.texts(r))
		if i == s.selected {
			line = inverse + line + noColor
		}
		all = append(all, line)
	}
	for len(all) < s.height-2 {
		all = append(all, "")
	}
	if s.asking != "" {
		return append(all, s.asking+s.input, "Press Enter to submit, ESC to cancel.")
	}
	return append(all, s.keys("Q Quit", "+ Inc Refresh", "G Goto Page", "N Next Page", "O Open Row"), s.keys("R Refresh", "- Dec Refresh", "L Last Page", "P Prev Page", ""))
}

func (s *screen) texts(r client.Row) []string {
	var all []string
	if s.table.ops {
		all = append(all, opNames[r.Kind])
	}
	for _, f := range r.Fields {
		all = append(all, s.table.field(f))
	}
	return all
}

// cells writes one line of the table, as far as it fits.
func (s *screen) cells(texts []string) string {
	var b strings.Builder
	left := s.columns
	for i := s.left; i < len(texts); i++ {
		w := s.table.widths[i]
		text := strings.Map(printable, texts[i])
		if width(text) > w {
			text = fit(text, w-1) + "~"
		}
		if left < w+1 {
			break
		}
		b.WriteString(" " + fit(text, w))
		left -= w + 1
	}
	return b.String()
}

// printable replaces what would move the cursor.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}

// keys writes what keys do, in as many columns as there are words.
func (s *screen) keys(all ...string) string {
	var b strings.Builder
	w := max(s.columns/len(all)-1, 1)
	for _, k := range all {
		fmt.Fprintf(&b, "%-*.*s", w, w, k)
	}
	return strings.TrimRight(b.String(), " ")
}

// drawRow shows all of the selected row.
func (s *screen) drawRow() []string {
	all := []string{inverse + centred("Row Summary", s.columns) + noColor, ""}
	if rows := s.visible(); s.selected < len(rows) {
		for i, text := range s.texts(rows[s.selected]) {
			all = append(all, fmt.Sprintf(" %s:", s.table.names[i]), "   "+strings.Map(printable, text))
		}
	}
	all = all[:min(len(all), s.height-1)]
	for len(all) < s.height-1 {
		all = append(all, "")
	}
	return append(all, "Press Q to go back.")
}

func centred(text string, columns int) string {
	before := max((columns-width(text))/2, 0)
	return spaces(before) + text + spaces(max(columns-before-width(text), 0))
}

// spread puts three texts at the left, in the middle and at the right.
func spread(left, middle, right string, columns int) string {
	text := left + spaces((columns-len(middle))/2-len(left)) + middle
	return text + spaces(columns-len(text)-len(right)) + right
}
