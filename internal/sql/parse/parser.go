package parse

import (
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
)

// parser reads one text. It stops at the first error by panic with a *Error,
// which the exported functions catch.
type parser struct {
	text   string
	tokens []token
	// at is the token that is read next.
	at int
	// depth counts what is nested around the token, against depthLimit.
	depth int
	// parameters counts the ? read.
	parameters int
	// inMatch is set inside MATCH_RECOGNIZE, where FINAL is an operator.
	inMatch bool

	// watch is the token at which expectations are noted, or -1. The first reading
	// of a text notes none; what was expected at an error is found by reading once
	// more.
	watch int
	// keywords and kinds are what was asked for at the watched token.
	keywords []string
	kinds    []Kind
	// need is what the watched token had to be, once nothing else was possible.
	need string
}

// depthLimit bounds how deeply a text may be nested. Each level takes about two
// kilobytes of stack.
const depthLimit = 12_000

// Kind is a kind of thing that is no keyword.
type Kind string

const (
	KindTable      Kind = "table"
	KindColumn     Kind = "column"
	KindFunction   Kind = "function"
	KindExpression Kind = "expression"
	KindType       Kind = "type"
	KindCatalog    Kind = "catalog"
	KindDatabase   Kind = "database"
	KindView       Kind = "view"
	KindModel      Kind = "model"
	KindConnection Kind = "connection"
	KindModule     Kind = "module"
	KindWindow     Kind = "window"
	KindName       Kind = "name"
	KindString     Kind = "text in quotes"
	KindNumber     Kind = "number"
	KindHint       Kind = "hint"
	KindEnd        Kind = "end of the statement"
	KindOperator   Kind = "operator"
)

// newParser cuts the whole text into tokens. A lexical error is the last token,
// and is reported when it is reached, as what stands before it may be wrong
// earlier.
func newParser(source string) (*parser, *Error) {
	l := newLexer(source)
	p := &parser{text: source, watch: -1, tokens: make([]token, 0, len(source)/5+2)}
	for {
		t := l.next()
		p.tokens = append(p.tokens, t)
		if t.kind == endOfText || t.kind == wrong {
			return p, l.err
		}
	}
}

// try runs a reading and gives the error that ended it. A text that the lexer
// refuses is refused for that reason, wherever the grammar stopped.
func try[T any](source string, read func(*parser) T) (result T, err error) {
	p, lexical := newParser(source)
	result, failed := run(p, read)
	switch {
	case lexical != nil:
		var none T
		return none, lexical
	case failed == nil:
		return result, nil
	}
	failed.explain(source, p.tokens, func(watch int, barred bool) *parser {
		q := &parser{text: source, tokens: p.tokens, watch: watch}
		if barred {
			q.tokens = slices.Clone(q.tokens)
			q.tokens[watch].kind = wrong
		}
		run(q, read)
		return q
	})
	var none T
	return none, failed
}

// run catches the error that a reading panics with.
func run[T any](p *parser, read func(*parser) T) (result T, failed *Error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			failed = r
		default:
			panic(r)
		}
	}()
	return read(p), nil
}

// peek is the token read next, and ahead one some tokens later.
func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) ahead(n int) token { return p.tokens[min(p.at+n, len(p.tokens)-1)] }

// noteWord notes that a keyword or mark was asked for at the next token.
func (p *parser) noteWord(w string) {
	if p.at == p.watch && !slices.Contains(p.keywords, w) {
		p.keywords = append(p.keywords, w)
	}
}

// note notes that a kind of thing was asked for at the next token.
func (p *parser) note(k Kind) {
	if p.at == p.watch && !slices.Contains(p.kinds, k) {
		p.kinds = append(p.kinds, k)
	}
}

// is says whether the next token is a keyword or mark.
func (p *parser) is(w string) bool {
	if p.tokens[p.at].word == w {
		return true
	}
	if p.at == p.watch {
		p.noteWord(w)
	}
	return false
}

// follows says whether the next tokens are these words.
func (p *parser) follows(words ...string) bool {
	for i, w := range words {
		if p.ahead(i).word != w {
			if p.at+i == p.watch {
				q := p.at
				p.at += i
				p.noteWord(w)
				p.at = q
			}
			return false
		}
	}
	return true
}

// skip passes the next tokens if they are these words, all or none.
func (p *parser) skip(words ...string) bool {
	if len(words) == 1 {
		if !p.is(words[0]) {
			return false
		}
		p.at++
		return true
	}
	if !p.follows(words...) {
		return false
	}
	p.at += len(words)
	return true
}

// expect passes a keyword or mark that must come next.
func (p *parser) expect(words ...string) {
	for _, w := range words {
		if !p.skip(w) {
			if p.at == p.watch {
				p.need = w
			}
			p.fail()
		}
	}
}

// oneOf passes one of some keywords, which must come next, and gives it.
func (p *parser) oneOf(words ...string) string {
	if w := p.maybe(words...); w != "" {
		return w
	}
	panic(p.unexpected())
}

// maybe passes one of some keywords if it comes next, and gives it or "".
func (p *parser) maybe(words ...string) string {
	for _, w := range words {
		if p.skip(w) {
			return w
		}
	}
	return ""
}

// fail stops the reading at the next token.
func (p *parser) fail() { panic(p.unexpected()) }

// unexpected is an error about the next token. Its message is made later.
func (p *parser) unexpected() *Error {
	t := p.peek()
	e := newError(p.text, t.start, t.end, "")
	if t.kind == endOfText {
		e.atEnd(p.text)
	}
	return e
}

// atEnd moves the place to the last character of the text, as Flink counts.
func (e *Error) atEnd(source string) {
	last := strings.TrimRight(source, " \t\r\n")
	if last == "" {
		return
	}
	at := ast.Locate(source, len(source))
	if !strings.HasSuffix(source, "\n") {
		at.Column--
	} else {
		at = ast.Locate(source, len(last))
		at.Column--
	}
	e.Position = at
}

// refuse stops the reading with words of its own about a range of the text.
func (p *parser) refuse(at ast.Span, message string) {
	panic(newError(p.text, at.Start, at.End, message))
}

// enter counts one level of nesting; leave must follow.
func (p *parser) enter() {
	p.depth++
	if p.depth > depthLimit {
		p.refuse(p.span(p.at), "the statement is nested more than "+itoa(depthLimit)+" levels deep")
	}
}

func (p *parser) leave() { p.depth-- }

// span is the range of a token.
func (p *parser) span(index int) ast.Span {
	t := p.tokens[index]
	return ast.Span{Start: t.start, End: t.end}
}

// start is where the next token starts; from gives the span from there to the
// end of the last token passed.
func (p *parser) start() int { return p.peek().start }

func (p *parser) from(start int) ast.Span {
	if p.at == 0 {
		return ast.Span{Start: start, End: start}
	}
	return ast.Span{Start: start, End: max(start, p.tokens[p.at-1].end)}
}

// last is the range of the last token passed.
func (p *parser) last() ast.Span { return p.span(max(p.at-1, 0)) }

// isName says whether a token can be a name.
func (t token) isName() bool {
	return t.kind == quoted || t.kind == word && t.key.IsName()
}

// name passes a name, which must come next.
func (p *parser) name(k Kind) ast.Name {
	p.note(k)
	t := p.peek()
	if !t.isName() {
		p.fail()
	}
	p.at++
	return ast.Name{Span: ast.Span{Start: t.start, End: t.end}, Text: nameText(p.text, t)}
}

// nameText is a token's name without its quotes.
func nameText(source string, t token) string {
	s := source[t.start:t.end]
	if t.kind == quoted {
		return strings.ReplaceAll(s[1:len(s)-1], "``", "`")
	}
	return s
}

// objectName passes a name with dots.
func (p *parser) objectName(k Kind) ast.ObjectName {
	start := p.start()
	parts := []ast.Name{p.name(k)}
	for p.is(".") {
		p.nameFollows()
		parts = append(parts, p.name(k))
	}
	return ast.ObjectName{Span: p.from(start), Parts: parts}
}

// nameFollows passes a dot. It stops the reading there if no name follows: Flink reports
// the dot's place.
func (p *parser) nameFollows() {
	dot := p.at
	p.at++
	t := p.peek()
	if t.kind != symbol && (t.kind != word || t.isName()) || p.at == p.watch {
		return
	}
	w := p.text[t.start:t.end]
	message := "expected a name after the dot, but found " + shown(w)
	if t.kind == word {
		message += "; " + strings.ToUpper(w) + " is a reserved word: write `" + w + "` if it is a name"
	}
	p.refuse(p.span(dot), message)
}

// elementFollows passes a comma, if there is one. It stops the reading there if an
// expression cannot follow: Flink reports the comma's place.
func (p *parser) elementFollows() bool {
	comma := p.at
	if !p.skip(",") {
		return false
	}
	if t := p.peek(); t.kind == symbol && (t.word == "," || t.word == ")" || t.word == "]") {
		p.refuse(p.span(comma), "expected an expression after the comma, but found "+shown(t.word))
	}
	return true
}

// nameList passes names in parentheses.
func (p *parser) nameList(k Kind) []ast.Name {
	p.expect("(")
	list := []ast.Name{p.name(k)}
	for p.skip(",") {
		list = append(list, p.name(k))
	}
	p.expect(")")
	return list
}
