package parse

import (
	"maps"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
)

// Completion is what may stand at a place of a text.
type Completion struct {
	// Start is where the word at the place starts, and Prefix what is there of it up
	// to the place: a completion replaces Prefix.
	Start  int
	Prefix string
	// Keywords may stand here and start with the prefix. They are in upper case and
	// sorted.
	Keywords []string
	// Kinds are the things that may stand here which are no keywords. An expression
	// starts with a column or a function.
	Kinds []Kind
	// Qualifier are the names with dots before the prefix.
	Qualifier []string
	// Relations are what the columns here can come from, the innermost query first.
	Relations []ScopeRelation
	// CommonTables are the names that WITH gives around the place.
	CommonTables []string
}

// ScopeRelation is a relation whose columns can be named, as far as syntax tells.
type ScopeRelation struct {
	// Table is the name of a table or view, nil for a query or function.
	Table []string
	// Alias is the name that the columns can be qualified with, or empty.
	Alias string
	// Columns are those that the text names: of an alias with columns, or of a query
	// in parentheses.
	Columns []string
}

// Complete says what may stand at a byte of a text that is still being written.
// What stands behind the place is looked at only for the relations that columns
// come from. Inside quotes and comments nothing is offered but a name's end.
func Complete(source string, cursor int) Completion {
	cursor = min(max(cursor, 0), len(source))
	c := Completion{Start: cursor}
	before, open := cut(source[:cursor])
	switch n := len(before); {
	case open >= 0 && source[open] != '`':
		return c
	case open >= 0:
		c.Start, c.Prefix = open, strings.ReplaceAll(source[open+1:cursor], "``", "`")
	case n > 0 && before[n-1].kind == word && before[n-1].end == cursor:
		c.Start, c.Prefix = before[n-1].start, source[before[n-1].start:cursor]
		before = before[:n-1]
	}
	before = lastStatement(before)
	for i := len(before) - 1; i > 0 && before[i].word == "." && (before[i-1].kind == word || before[i-1].kind == quoted); i -= 2 {
		c.Qualifier = append([]string{nameText(source, before[i-1])}, c.Qualifier...)
	}
	c.offer(asked(source, before, c.Start), open >= 0)
	after, _ := cut(source[cursor:])
	for i := range after {
		after[i].start += cursor
		after[i].end += cursor
	}
	s := scope{text: source, tokens: append(slices.Clip(before), upToSemicolon(after)...), at: len(before)}
	c.Relations, c.CommonTables = s.relations(), s.commonTables()
	return c
}

// repairs bounds how many mistakes before the place are passed over.
const repairs = 16

// asked reads the tokens before a place and gives what is asked for behind them.
// Where the reading stops earlier, a name is put in if one was missing, and else
// the token is left out.
func asked(source string, before []token, at int) *parser {
	tokens := append(slices.Clone(before), token{kind: endOfText, start: at, end: at})
	for repair := 0; ; repair++ {
		p := &parser{text: source, tokens: tokens, watch: len(tokens) - 1}
		run(p, whole)
		if p.at >= p.watch || repair == repairs {
			return p
		}
		q := &parser{text: source, tokens: tokens, watch: p.at}
		run(q, whole)
		if t := tokens[p.at]; slices.ContainsFunc(q.kinds, Kind.named) && !t.isName() {
			tokens = slices.Insert(tokens, p.at, token{kind: word, start: t.start, end: t.start})
			continue
		}
		tokens = slices.Delete(tokens, p.at, p.at+1)
	}
}

// whole reads one statement.
func whole(p *parser) ast.Statement {
	s := p.statement()
	p.finish()
	return s
}

// offer takes over what a reading asked for at the place. In back quotes there is
// no keyword.
func (c *Completion) offer(p *parser, quoted bool) {
	for _, k := range p.kinds {
		if k != KindEnd && k != KindOperator {
			c.Kinds = append(c.Kinds, k)
		}
	}
	if quoted || len(c.Qualifier) > 0 {
		return
	}
	words := slices.Clone(p.keywords)
	if slices.Contains(c.Kinds, KindExpression) {
		words = slices.AppendSeq(words, maps.Keys(specialForms))
		words = append(words, "NOT")
	}
	if slices.Contains(c.Kinds, KindType) {
		words = slices.AppendSeq(words, maps.Keys(typeNames))
		words = append(words, "ARRAY", "MAP", "MULTISET", "ROW", "RAW")
	}
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		if isLetter(w[0]) && len(w) >= len(c.Prefix) && strings.EqualFold(w[:len(c.Prefix)], c.Prefix) {
			c.Keywords = append(c.Keywords, w)
		}
	}
}

// cut gives the tokens of a text up to its end, and where a quote or comment
// starts that has no end, or -1. Characters without meaning are left out.
func cut(source string) (tokens []token, open int) {
	l := newLexer(source)
	for {
		t := l.next()
		switch {
		case t.kind == endOfText || t.kind == wrong && l.open >= 0:
			return tokens, l.open
		case t.kind == wrong:
			l.at, l.err = max(l.at, l.err.End), nil
		default:
			tokens = append(tokens, t)
		}
	}
}

// lastStatement leaves out what is before the last semicolon.
func lastStatement(tokens []token) []token {
	for i := len(tokens) - 1; i >= 0; i-- {
		if tokens[i].word == ";" || i > 1 && tokens[i].word == "BEGIN" && tokens[i-1].word == "SET" && tokens[i-2].word == "STATEMENT" {
			return tokens[i+1:]
		}
	}
	return tokens
}

func upToSemicolon(tokens []token) []token {
	if i := slices.IndexFunc(tokens, func(t token) bool { return t.word == ";" }); i >= 0 {
		return tokens[:i]
	}
	return tokens
}

// scope looks for the relations around a place, by tokens alone, as the text
// around it need not be whole.
type scope struct {
	text   string
	tokens []token
	// at is the first token behind the place.
	at int
}

// opened gives the tokens behind the open parentheses around the place, the
// innermost first; the last is the statement's start.
func (s *scope) opened() []int {
	starts := []int{0}
	for i, t := range s.tokens[:s.at] {
		switch t.word {
		case "(":
			starts = append(starts, i+1)
		case ")":
			if len(starts) > 1 {
				starts = starts[:len(starts)-1]
			}
		}
	}
	slices.Reverse(starts)
	return starts
}

// block gives the part of one level of parentheses that the place is in, between
// set operations.
func (s *scope) block(start int) (from, to int) {
	from = start
	for i := start; i < len(s.tokens); {
		switch w := s.tokens[i].word; {
		case w == ")":
			return from, i
		case w == "UNION" || w == "EXCEPT" || w == "INTERSECT":
			if i >= s.at {
				return from, i
			}
			from = i + 1
		case w == "SELECT" && i < s.at:
			from = i
		case w == "(":
			i = s.close(i)
			continue
		}
		i++
	}
	return from, len(s.tokens)
}

// close gives the token behind the parenthesis that closes one.
func (s *scope) close(open int) int {
	depth := 0
	for i := open; i < len(s.tokens); i++ {
		switch s.tokens[i].word {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s.tokens)
}

// relations gives those of each query around the place.
func (s *scope) relations() []ScopeRelation {
	var list []ScopeRelation
	for _, start := range s.opened() {
		from, to := s.block(start)
		for i := from; i < to; {
			switch w := s.tokens[i].word; w {
			case "FROM", "JOIN", "UPDATE", "INTO", "OVERWRITE":
				i = s.relation(i+1, to, &list)
			case "(":
				i = s.close(i)
			default:
				i++
			}
		}
	}
	return list
}

// relation notes the relation at a token, and those behind commas, and gives the
// token behind them.
func (s *scope) relation(i, to int, list *[]ScopeRelation) int {
	for i < to {
		var r ScopeRelation
		i, r = s.primary(i, to)
		if i < to && s.tokens[i].word == "AS" {
			i++
		}
		if i < to && s.tokens[i].isName() && (s.tokens[i].start != s.cursorWord() || i != s.at) {
			r.Alias = nameText(s.text, s.tokens[i])
			i++
			if i < to && s.tokens[i].word == "(" {
				end := s.close(i)
				r.Columns = s.plainNames(i+1, end)
				i = end
			}
		}
		if r.Table != nil || r.Alias != "" || r.Columns != nil {
			*list = append(*list, r)
		}
		if i >= to || s.tokens[i].word != "," {
			return i
		}
		i++
	}
	return i
}

// cursorWord is where the token at the place starts.
func (s *scope) cursorWord() int {
	if s.at < len(s.tokens) {
		return s.tokens[s.at].start
	}
	return -1
}

// primary reads a name with dots or what stands in parentheses.
func (s *scope) primary(i, to int) (int, ScopeRelation) {
	var r ScopeRelation
	for i < to && (s.tokens[i].word == "LATERAL" || s.tokens[i].word == "TABLE" || s.tokens[i].word == "UNNEST") {
		i++
	}
	switch {
	case i < to && s.tokens[i].word == "(":
		end := s.close(i)
		r.Columns = s.queryColumns(i, end)
		return end, r
	case i < to && s.tokens[i].isName() && i != s.at:
		r.Table = []string{nameText(s.text, s.tokens[i])}
		for i++; i+1 < to && s.tokens[i].word == "." && i+1 != s.at && s.tokens[i+1].isName(); i += 2 {
			r.Table = append(r.Table, nameText(s.text, s.tokens[i+1]))
		}
	default:
		return i, r
	}
	if i < to && s.tokens[i].word == "." { // the place is behind the dot
		return i + 1, ScopeRelation{}
	}
	if i < to && s.tokens[i].word == "(" { // a function
		return s.close(i), ScopeRelation{}
	}
	for i < to && s.tokens[i].kind == hintStart {
		for i < to && s.tokens[i].kind != hintEnd {
			i++
		}
		i++
	}
	if i+3 < to && s.tokens[i].word == "FOR" && s.tokens[i+1].word == "SYSTEM_TIME" {
		for i += 4; i < to && (s.tokens[i].isName() || s.tokens[i].word == "."); i++ {
			if s.tokens[i].isName() && s.tokens[i-1].isName() {
				break
			}
		}
	}
	return min(i, to), r
}

// plainNames gives the names between two tokens.
func (s *scope) plainNames(i, to int) (list []string) {
	for ; i < to; i++ {
		if s.tokens[i].isName() {
			list = append(list, nameText(s.text, s.tokens[i]))
		}
	}
	return list
}

// queryColumns gives the columns of a query in parentheses, as far as they have
// names.
func (s *scope) queryColumns(open, end int) (list []string) {
	p := &parser{text: s.text, watch: -1, tokens: append(slices.Clone(s.tokens[open:end]), token{kind: endOfText})}
	r, failed := run(p, (*parser).parenthesised)
	d, ok := r.(*ast.DerivedTable)
	if failed != nil || !ok {
		return nil
	}
	body := d.Query.Body
	for {
		if o, ok := body.(*ast.SetOperation); ok {
			body = o.Left
		} else if q, ok := body.(*ast.Query); ok {
			body = q.Body
		} else {
			break
		}
	}
	query, ok := body.(*ast.Select)
	if !ok {
		return nil
	}
	for _, item := range query.Items {
		if item.Alias != nil {
			list = append(list, item.Alias.Text)
		} else if id, ok := item.Expr.(*ast.Identifier); ok {
			list = append(list, id.Parts[len(id.Parts)-1].Text)
		}
	}
	return list
}

// commonTables gives the names of WITH before the place.
func (s *scope) commonTables() (list []string) {
	for i := 0; i+1 < s.at; i++ {
		if s.tokens[i].word != "WITH" || !s.tokens[i+1].isName() {
			continue
		}
		for j := i + 1; j < s.at && s.tokens[j].isName(); {
			name := nameText(s.text, s.tokens[j])
			if j++; j < s.at && s.tokens[j].word == "(" {
				j = s.close(j)
			}
			if j+1 >= s.at || s.tokens[j].word != "AS" || s.tokens[j+1].word != "(" {
				break
			}
			if j = s.close(j + 1); j > s.at {
				break // the place is inside it
			}
			list = append(list, name)
			if j >= len(s.tokens) || s.tokens[j].word != "," {
				break
			}
			j++
		}
	}
	return list
}
