package sqlclient

import (
	"strings"

	"github.com/weirstream/weir/internal/sql/parse"
)

// A lexer finds words, strings, quoted names and comments in a text, whatever it says.
type lexer struct {
	text string
	at   int
}

// A token is a word, or one other character; or a string, name or comment in whole.
type token struct {
	start, end int
	kind       tokenKind
}

type tokenKind uint8

const (
	word tokenKind = iota
	quoted
	comment
	symbol
	space
	unfinished // a string, name or comment whose end is missing
)

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// next gives the next token; false at the end.
func (l *lexer) next() (token, bool) {
	if l.at >= len(l.text) {
		return token{}, false
	}
	t := token{start: l.at}
	rest := l.text[l.at:]
	switch c := rest[0]; {
	case isWord(c):
		n := 1
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		t.kind, t.end = word, l.at+n
	case c == '\'' || c == '"' || c == '`':
		t.kind, t.end = l.until(string(c), 1, quoted)
	case strings.HasPrefix(rest, "--"):
		t.kind, t.end = comment, len(l.text)
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			t.end = l.at + n
		}
	case strings.HasPrefix(rest, "/*"):
		t.kind, t.end = l.until("*/", 2, comment)
	case strings.IndexByte(" \t\r\n\f", c) >= 0:
		t.kind, t.end = space, l.at+1
	default:
		t.kind, t.end = symbol, l.at+1
	}
	l.at = t.end
	return t, true
}

// until finds the end of what begins here with n bytes. A quote that is doubled ends one
// token and begins the next, which comes to the same.
func (l *lexer) until(end string, n int, kind tokenKind) (tokenKind, int) {
	i := strings.Index(l.text[l.at+n:], end)
	if i < 0 {
		return unfinished, len(l.text)
	}
	return kind, l.at + n + i + len(end)
}

// complete reports whether a text ends with the end of a statement, so that nothing more
// needs to be typed.
func complete(text string) bool {
	pieces := parse.Split(text)
	return len(pieces) == 0 || pieces[len(pieces)-1].Terminated
}

// bare is a statement without comments, its semicolon and space around it.
func bare(statement string) string {
	var b strings.Builder
	l := lexer{text: statement}
	for {
		t, ok := l.next()
		if !ok {
			break
		}
		if t.kind != comment {
			b.WriteString(statement[t.start:t.end])
		}
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(b.String()), ";"))
}
