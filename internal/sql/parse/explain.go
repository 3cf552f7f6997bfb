package parse

import (
	"maps"
	"slices"
	"strings"
)

// explain says what was expected where a reading stopped, unless the error has
// words of its own. read reads the text once more and notes what is asked for at
// a token; barred keeps that token from being taken for a name.
func (e *Error) explain(source string, tokens []token, read func(watch int, barred bool) *parser) {
	if e.Message != "" {
		return
	}
	i := slices.IndexFunc(tokens, func(t token) bool { return t.end >= e.End && t.start >= e.Offset })
	if i < 0 {
		i = len(tokens) - 1
	}
	q := read(i, false)
	e.Expected = q.expected()
	t := tokens[i]
	found := "the end of the statement"
	if t.kind != endOfText {
		found = shown(source[t.start:t.end])
	}
	if t.kind == word {
		if e.Suggestion = nearest(source[t.start:t.end], q.meant()); e.Suggestion != "" {
			e.Message = found + " cannot stand here. Did you mean " + e.Suggestion + "?"
			return
		}
	}
	switch {
	case i == 0 && t.kind != endOfText && slices.Contains(q.keywords, "SELECT"):
		e.Message = found + " starts no statement; statements start with SELECT, INSERT, CREATE, SHOW, EXPLAIN or one of the words that HELP lists"
	case i == 0 && t.kind == endOfText && slices.Contains(q.keywords, "SELECT"):
		e.Message = "there is no statement"
	case len(e.Expected) == 0:
		e.Message = found + " cannot stand here"
	default:
		e.Message = "expected " + listed(e.Expected) + ", but found " + found
	}
	if advice := advise(source, tokens, i, q); advice != "" {
		e.Message += "; " + advice
		return
	}
	// The word before may be a slip of a keyword that was taken for a name.
	if i == 0 || tokens[i-1].kind != word || tokens[i-1].key.IsReserved() {
		return
	}
	w := source[tokens[i-1].start:tokens[i-1].end]
	if e.Suggestion = nearest(w, read(i-1, true).meant()); e.Suggestion != "" {
		e.Message = found + " cannot stand here, as " + shown(w) + " was read as a name. Did you mean " + e.Suggestion + "?"
	}
}

// advise gives what to do about a mistake that is often made, or "".
func advise(source string, tokens []token, i int, q *parser) string {
	t := tokens[i]
	after := tokens[min(i+1, len(tokens)-1)]
	next := source[after.start:after.end]
	switch {
	case i > 0 && tokens[i-1].word == "," && (t.word == ")" || clauses[t.word]):
		return "is the comma before it one too many?"
	case strings.EqualFold(next, "SEMI") || strings.EqualFold(next, "ANTI"):
		return "write a semi join with IN or EXISTS, and an anti join with NOT EXISTS"
	case t.word == "DAY" && after.word == "(":
		return "write DAYOFMONTH(…) or EXTRACT(DAY FROM …)"
	case t.word == "COLUMN":
		return "leave the word COLUMN out"
	case t.kind == word && t.key.IsReserved() && (!clauses[t.word] || i > 0 && tokens[i-1].word == "AS") && slices.ContainsFunc(q.kinds, Kind.named):
		w := source[t.start:t.end]
		return t.word + " is a reserved word: write `" + w + "` if it is a name"
	}
	return ""
}

// clauses are the words that hardly anybody uses as a name.
var clauses = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`SELECT FROM WHERE GROUP HAVING QUALIFY ORDER LIMIT OFFSET FETCH UNION EXCEPT INTERSECT JOIN
		ON USING INTO SET AND OR THEN WHEN ELSE INSERT UPDATE DELETE CREATE DROP ALTER WITH BY CROSS INNER`) {
		m[w] = true
	}
	return m
}()

// meant are the keywords that a slip at the watched token may have meant.
func (p *parser) meant() []string {
	words := p.keywords
	if slices.Contains(p.kinds, KindType) {
		words = slices.AppendSeq(slices.Clone(words), maps.Keys(typeNames))
		slices.Sort(words)
	}
	return words
}

// expected are what was asked for at the watched token, in a person's words: what
// was needed in the end comes first.
func (p *parser) expected() []string {
	expression, operator := slices.Contains(p.kinds, KindExpression), slices.Contains(p.kinds, KindOperator)
	var words []string
	add := func(w string) {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if p.need != "" {
		add(spoken(p.need))
	}
	if expression {
		add(KindExpression.phrase())
	}
	for _, k := range p.kinds {
		if k != KindOperator && !(expression && (k == KindColumn || k == KindFunction)) {
			add(k.phrase())
		}
	}
	for _, w := range p.keywords {
		if w != "." && !(expression && startsExpression[w] || operator && behindOperand[w]) {
			add(spoken(w))
		}
	}
	if operator {
		add(KindOperator.phrase())
	}
	return words
}

// spoken is a keyword or mark in a sentence.
func spoken(w string) string {
	switch w {
	case ",":
		return "a comma"
	case ";":
		return "a semicolon"
	case "(":
		return "an opening parenthesis"
	case ")":
		return "a closing parenthesis"
	case ".":
		return "a dot"
	case "]":
		return "a closing bracket"
	}
	if isLetter(w[0]) {
		return w
	}
	return `"` + w + `"`
}

// behindOperand are the words and marks that "an operator" stands for.
var behindOperand = func() map[string]bool {
	m := map[string]bool{"[": true, ".": true, "(": true}
	for _, w := range operators {
		m[w] = true
	}
	return m
}()

// startsExpression are the words and marks that "an expression" stands for.
var startsExpression = map[string]bool{"STREAM": true, "DEFAULT": true, "MODEL": true, "SPECIFIC": true}

// listed joins words as a person lists them: a, b or c. Many are cut.
func listed(words []string) string {
	const most = 6
	switch n := len(words); {
	case n == 0:
		return ""
	case n == 1:
		return words[0]
	case n > most:
		return strings.Join(words[:most], ", ") + " …"
	default:
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
}

// phrase is a kind in a sentence.
func (k Kind) phrase() string {
	switch k {
	case KindEnd:
		return "the end of the statement"
	case KindExpression:
		return "an expression"
	case KindOperator:
		return "an operator"
	case KindType:
		return "a type"
	case KindString:
		return "a text in quotes"
	case KindNumber:
		return "a number"
	case KindName:
		return "a name"
	case KindHint:
		return "a hint"
	default:
		return "the name of a " + string(k)
	}
}

// named says whether a kind of thing is given by a name.
func (k Kind) named() bool {
	switch k {
	case KindString, KindNumber, KindEnd, KindHint, KindType, KindOperator:
		return false
	}
	return true
}

// shown quotes a piece of the statement for a message, cut if it is long.
func shown(piece string) string {
	if r := []rune(printable(piece)); len(r) > 40 {
		piece = string(r[:40]) + "…"
	}
	return `"` + printable(piece) + `"`
}
