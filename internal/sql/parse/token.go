package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirstream/weir/internal/sql/ast"
)

// kind tells tokens apart.
type kind uint8

const (
	endOfText kind = iota
	// word is an unquoted identifier or keyword.
	word
	// quoted is a name in back quotes.
	quoted
	// text is a string in any of its forms.
	text
	// binary is X'…'.
	binary
	// number has no exponent, approximate has one.
	number
	approximate
	// symbol is an operator or a punctuation mark.
	symbol
	// hintStart and hintEnd are /*+ and the */ that closes it.
	hintStart
	hintEnd
	// wrong is a piece of text that is no token; the lexer says why.
	wrong
)

// token is a piece of the statement's text.
type token struct {
	kind       kind
	start, end int
	// word is the keyword in upper case, or the symbol; empty for others.
	word string
	// key is the keyword of a word.
	key ast.Keyword
}

// lexer cuts a text into tokens.
type lexer struct {
	text string
	at   int
	// from is where the last token starts.
	from int
	// inHint is set between /*+ and */.
	inHint bool
	// err is what is wrong with the text, at the last token.
	err *Error
	// open is where a quote or comment starts that has no end, or -1.
	open int
}

func newLexer(source string) lexer { return lexer{text: source, open: -1} }

// symbols are the marks of more than one character, longest first.
var symbols = []string{"=>", "<>", "<=", ">=", "!=", "||", "->", ".."}

// marks are the marks of one character. Those that only patterns use are among
// them.
const marks = "()[]{},;.:?=<>+-*/%|^"

// one are the marks as strings, so that none is made for each token.
var one = func() (m [128]string) {
	for _, c := range marks {
		m[c] = string(c)
	}
	return m
}()

// next gives the next token. At the end, and after an error, it gives
// endOfText or wrong for ever.
func (l *lexer) next() token {
	if l.err != nil {
		return token{kind: wrong, start: l.err.Offset, end: l.err.End}
	}
	if !l.space() {
		return l.bad()
	}
	start := l.at
	l.from = start
	if start == len(l.text) {
		return token{kind: endOfText, start: start, end: start}
	}
	c := l.text[start]
	switch {
	case c == '\'':
		return l.quote(text, start, '\'')
	case c == '`':
		return l.quote(quoted, start, '`')
	case isDigit(c) || c == '.' && start+1 < len(l.text) && isDigit(l.text[start+1]):
		return l.number(start)
	case isLetter(c) || c >= utf8.RuneSelf:
		return l.word(start)
	case strings.HasPrefix(l.text[start:], "/*+"):
		l.at, l.inHint = start+3, true
		return token{kind: hintStart, start: start, end: l.at, word: "/*+"}
	case l.inHint && strings.HasPrefix(l.text[start:], "*/"):
		l.at, l.inHint = start+2, false
		return token{kind: hintEnd, start: start, end: l.at, word: "*/"}
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.text[start:], s) {
			l.at += len(s)
			return token{kind: symbol, start: start, end: l.at, word: s}
		}
	}
	if c < utf8.RuneSelf && one[c] != "" {
		l.at++
		return token{kind: symbol, start: start, end: l.at, word: one[c]}
	}
	return l.stray(start)
}

// stray refuses a character that starts no token.
func (l *lexer) stray(start int) token {
	r, size := utf8.DecodeRuneInString(l.text[start:])
	switch {
	case r == '"':
		return l.fail(start, start+1, `a name is quoted with back quotes (`+"`name`"+`) and a text with single quotes ('text'), not with "`)
	case r == '!':
		// Flink's reader stops at the character after it.
		return l.fail(start+1, start+1, "! is no operator; write <> for \"not equal\", or NOT")
	case r == 0:
		return l.fail(start, start+1, "the statement holds a NUL byte")
	case r == utf8.RuneError && size == 1:
		return l.fail(start, start+1, "the statement is not valid UTF-8")
	}
	return l.fail(start, start+size, "the character "+string(r)+" has no meaning in SQL")
}

// fail notes what is wrong and gives the token for it.
func (l *lexer) fail(start, end int, message string) token {
	l.err = newError(l.text, start, end, message)
	return l.bad()
}

func (l *lexer) bad() token { return token{kind: wrong, start: l.err.Offset, end: l.err.End} }

// byteOrderMark is what some editors put before a file's text.
const byteOrderMark = "\ufeff"

// space skips blanks and comments, and reports whether all comments end.
func (l *lexer) space() bool {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch c := rest[0]; {
		case l.at == 0 && strings.HasPrefix(rest, byteOrderMark):
			l.at += len(byteOrderMark)
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			l.at++
		case c == '-' && strings.HasPrefix(rest, "--"), c == '/' && strings.HasPrefix(rest, "//"):
			if l.inHint {
				return true
			}
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				l.at += n + 1
				continue
			}
			l.at = len(l.text)
		case c == '/' && strings.HasPrefix(rest, "/*") && !strings.HasPrefix(rest, "/*+"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				l.open = l.at
				l.fail(len(l.text), len(l.text), "the comment that starts at "+place(l.text, l.at)+" has no end: */ is missing")
				return false
			}
			l.at += n + 4
		default:
			r, size := utf8.DecodeRuneInString(rest)
			if r < utf8.RuneSelf || !unicode.IsSpace(r) {
				return true
			}
			l.at += size
		}
	}
	return true
}

// quote reads to the closing quote, which is doubled inside. What stands before
// the quote, from start, belongs to the token.
func (l *lexer) quote(k kind, start int, q byte) token {
	open := strings.IndexByte(l.text[start:], q) + start
	escapes := open == start+1 && l.text[start]|0x20 == 'e'
	for i := open + 1; ; {
		n := strings.IndexByte(l.text[i:], q)
		if e := strings.IndexByte(l.text[i:], '\\'); escapes && e >= 0 && e < n {
			i = min(i+e+2, len(l.text))
			continue
		}
		if n < 0 {
			l.open = start
			if k == quoted {
				return l.fail(len(l.text), len(l.text), "the quoted name that starts at "+place(l.text, open)+" has no end: ` is missing")
			}
			return l.fail(start, open+1, "the text in quotes has no end: ' is missing")
		}
		i += n + 1
		if i < len(l.text) && l.text[i] == q {
			i++
			continue
		}
		l.at = i
		break
	}
	body := l.text[open+1 : l.at-1]
	if k == quoted && body == "" {
		return l.fail(start, l.at, "a quoted name cannot be empty")
	}
	if bad := strings.IndexByte(body, 0); k == quoted && bad >= 0 {
		return l.fail(open+1+bad, open+2+bad, "the statement holds a NUL byte")
	}
	if !utf8.ValidString(body) {
		bad := open + 1
		for r, size := utf8.DecodeRuneInString(l.text[bad:]); r != utf8.RuneError || size != 1; r, size = utf8.DecodeRuneInString(l.text[bad:]) {
			bad += size
		}
		return l.fail(bad, bad+1, "the statement is not valid UTF-8")
	}
	return token{kind: k, start: start, end: l.at}
}

// number reads digits with a point and an exponent.
func (l *lexer) number(start int) token {
	k, i := number, start
	digits := func() {
		for i < len(l.text) && isDigit(l.text[i]) {
			i++
		}
	}
	digits()
	if i < len(l.text) && l.text[i] == '.' {
		i++
		digits()
	}
	if i < len(l.text) && l.text[i]|0x20 == 'e' {
		mark := i
		i++
		if i < len(l.text) && (l.text[i] == '+' || l.text[i] == '-') {
			i++
		}
		if i < len(l.text) && isDigit(l.text[i]) {
			k = approximate
			digits()
		} else {
			i = mark
		}
	}
	l.at = i
	return token{kind: k, start: start, end: i}
}

// word reads a name or keyword, or the prefix of a string: X, N, U& and _charset.
func (l *lexer) word(start int) token {
	i := start
	for i < len(l.text) {
		c := l.text[i]
		if c < utf8.RuneSelf {
			if !isLetter(c) && !isDigit(c) {
				break
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(l.text[i:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) {
			break
		}
		i += size
	}
	if i == start {
		return l.stray(start)
	}
	w, next := l.text[start:i], byte(0)
	if i < len(l.text) {
		next = l.text[i]
	}
	switch {
	case next == '\'' && (w[0] == '_' && len(w) > 1 || w == "N" || w == "n" || w == "E" || w == "e"):
		return l.quote(text, start, '\'')
	case next == '\'' && (w == "X" || w == "x"):
		return l.quote(binary, start, '\'')
	case next == '&' && (w == "U" || w == "u") && strings.HasPrefix(l.text[i:], "&'"):
		return l.quote(text, start, '\'')
	}
	l.at = i
	k := ast.LookUp(w)
	return token{kind: word, start: start, end: i, word: k.Word, key: k}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLetter is of names: $ and _ are letters too.
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
}

// place names a byte's line and column in words.
func place(text string, offset int) string {
	p := ast.Locate(text, offset)
	return "line " + itoa(p.Line) + ", column " + itoa(p.Column)
}
