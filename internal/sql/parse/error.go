package parse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"github.com/weirstream/weir/internal/sql/ast"
)

// Error says what is wrong with a text, and where.
type Error struct {
	// Offset and End are the bytes of the text that the error is about. They are
	// equal where something is missing.
	Offset, End int
	// Position is the place of Offset. At the end of the text it is the place of
	// the last character, as Flink reports it.
	ast.Position
	// Message is one sentence without the place.
	Message string
	// Expected is what could have stood there instead, in a person's words, and
	// keywords in upper case.
	Expected []string
	// Suggestion is the keyword that was probably meant, or empty.
	Suggestion string
	// Line is the line of the text, and Caret marks the place below it.
	Line, Caret string
}

// Error is the place and message, then the line of the text and the mark.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d, column %d: %s", e.Position.Line, e.Column, e.Message)
	if e.Line != "" {
		fmt.Fprintf(&b, "\n  %s\n  %s", e.Line, e.Caret)
	}
	return b.String()
}

// NewError makes an error about a part of a text that could be read: a name that is
// unknown, a type that does not fit. It looks like the errors of this package.
func NewError(source string, at ast.Span, message string) *Error {
	return newError(source, at.Start, at.End, message)
}

// Until is the place of the last character that the error is about, in the text
// that it was made for.
func (e *Error) Until(source string) ast.Position {
	if e.End <= e.Offset {
		return e.Position
	}
	end := min(e.End, len(source))
	_, size := utf8.DecodeLastRuneInString(source[:end])
	return ast.Locate(source, end-size)
}

// newError makes an error about some bytes of a text.
func newError(source string, start, end int, message string) *Error {
	e := &Error{Offset: start, End: end, Position: ast.Locate(source, start), Message: message}
	from := strings.LastIndexByte(source[:min(start, len(source))], '\n') + 1
	line := source[from:]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	e.Line, e.Caret = window(strings.TrimRight(line, "\r"), start-from, max(end-start, 1))
	return e
}

// lineLimit bounds the characters shown of a line.
const lineLimit = 120

// window cuts the part of a line around the bytes marked, and marks them.
func window(line string, at, length int) (shown, caret string) {
	at = min(max(at, 0), len(line))
	end := min(at+length, len(line))
	before, marked, after := []rune(printable(line[:at])), []rune(printable(line[at:end])), []rune(printable(line[end:]))
	if len(before) > lineLimit/2 {
		before = append([]rune("…"), before[len(before)-lineLimit/2:]...)
	}
	if len(marked) > lineLimit/2 {
		marked, after = append(marked[:lineLimit/2], '…'), nil
	}
	if rest := max(lineLimit-len(before)-len(marked), 0); len(after) > rest {
		after = append(after[:rest], '…')
	}
	return string(before) + string(marked) + string(after), strings.Repeat(" ", len(before)) + strings.Repeat("^", max(len(marked), 1))
}

// printable replaces what a terminal would not show in one column.
func printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || r == utf8.RuneError:
			return '?'
		}
		return r
	}, s)
}

// Nearest gives the name of a list that a word is most likely a slip of, whatever
// their case, or "" if none is near.
func Nearest(w string, names []string) string {
	upper := strings.ToUpper(w)
	best, distance := "", 3
	if len(w) < 5 {
		distance = 2
	}
	for _, name := range names {
		n := strings.ToUpper(name)
		if n == upper && name != w {
			return name
		}
		if n == upper || len(n) < 2 {
			continue
		}
		d := levenshtein.ComputeDistance(upper, n)
		if d == 2 && swapped(upper, n) {
			d = 1
		}
		if d < distance && d < len(n)-1 {
			best, distance = name, d
		}
	}
	return best
}

// nearest gives the keyword that a word is a slip of, or "".
func nearest(w string, words []string) string {
	words = slices.DeleteFunc(slices.Clone(words), func(k string) bool { return !isLetter(k[0]) || strings.EqualFold(k, w) })
	return Nearest(strings.ToUpper(w), words)
}

// swapped says whether two words differ by two neighbours that changed places.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

func itoa(n int) string { return strconv.Itoa(n) }
