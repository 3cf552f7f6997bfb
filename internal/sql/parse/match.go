package parse

import (
	"github.com/weirstream/weir/internal/sql/ast"
)

// matchRecognize passes MATCH_RECOGNIZE ( … ) behind a relation.
func (p *parser) matchRecognize(r ast.Relation, start int) *ast.MatchRecognize {
	outer := p.inMatch
	p.inMatch = true
	p.expect("MATCH_RECOGNIZE", "(")
	m := &ast.MatchRecognize{Relation: r}
	if p.skip("PARTITION") {
		p.expect("BY")
		m.PartitionBy = p.expressions()
	}
	if p.skip("ORDER") {
		p.expect("BY")
		m.OrderBy = p.orderItems()
	}
	if p.skip("MEASURES") {
		m.Measures = append(m.Measures, p.measure())
		for p.skip(",") {
			m.Measures = append(m.Measures, p.measure())
		}
	}
	switch p.maybe("ONE", "ALL") {
	case "ONE":
		p.expect("ROW", "PER", "MATCH")
		m.Rows = "ONE ROW PER MATCH"
	case "ALL":
		p.expect("ROWS", "PER", "MATCH")
		m.Rows = "ALL ROWS PER MATCH"
	}
	if p.is("AFTER") {
		m.After = p.afterMatch()
	}
	p.expect("PATTERN", "(")
	m.Start = p.skip("^")
	m.Pattern = p.pattern()
	m.End = p.anchor()
	p.expect(")")
	if p.skip("WITHIN") {
		m.Within = p.expression(0)
	}
	if p.skip("SUBSET") {
		m.Subsets = append(m.Subsets, p.patternSubset())
		for p.skip(",") {
			m.Subsets = append(m.Subsets, p.patternSubset())
		}
	}
	p.expect("DEFINE")
	m.Define = append(m.Define, p.patternDefinition())
	for p.skip(",") {
		m.Define = append(m.Define, p.patternDefinition())
	}
	p.expect(")")
	p.inMatch = outer
	m.Span = p.from(start)
	return m
}

func (p *parser) measure() *ast.SelectItem {
	start := p.start()
	m := &ast.SelectItem{Expr: p.expression(0)}
	p.expect("AS")
	n := p.name(KindName)
	m.Alias, m.Span = &n, p.from(start)
	return m
}

func (p *parser) afterMatch() *ast.AfterMatch {
	start := p.start()
	p.expect("AFTER", "MATCH", "SKIP")
	a := &ast.AfterMatch{}
	switch {
	case p.skip("PAST"):
		p.expect("LAST", "ROW")
		a.Kind = "PAST LAST ROW"
	case p.skip("TO"):
		switch {
		case p.skip("NEXT", "ROW"):
			a.Kind = "TO NEXT ROW"
		default:
			a.Kind = "TO LAST"
			if k := p.maybe("FIRST", "LAST"); k != "" {
				a.Kind = "TO " + k
			}
			n := p.name(KindName)
			a.Variable = &n
		}
	default:
		p.fail()
	}
	a.Span = p.from(start)
	return a
}

// anchor passes the $ at the end of a pattern.
func (p *parser) anchor() bool {
	if t := p.peek(); t.kind != word || p.text[t.start:t.end] != "$" {
		return false
	}
	p.at++
	return true
}

// pattern passes alternatives.
func (p *parser) pattern() ast.Pattern {
	p.enter()
	items := []ast.Pattern{p.patternSequence()}
	for p.skip("|") {
		items = append(items, p.patternSequence())
	}
	p.leave()
	if len(items) == 1 {
		return items[0]
	}
	return &ast.PatternAlternation{Span: items[0].Range().To(items[len(items)-1].Range()), Items: items}
}

func (p *parser) patternSequence() ast.Pattern {
	items := []ast.Pattern{p.patternFactor()}
	for p.startsPattern() {
		items = append(items, p.patternFactor())
	}
	if len(items) == 1 {
		return items[0]
	}
	return &ast.PatternSequence{Span: items[0].Range().To(items[len(items)-1].Range()), Items: items}
}

// startsPattern says whether one more factor follows. A lone $ ends the pattern.
func (p *parser) startsPattern() bool {
	t := p.peek()
	if t.kind == word && p.text[t.start:t.end] == "$" {
		return false
	}
	return t.isName() || p.is("(") || p.is("PERMUTE") || p.is("{") && p.ahead(1).word == "-"
}

// patternFactor passes a pattern and how often it may come.
func (p *parser) patternFactor() ast.Pattern {
	start := p.start()
	e := p.patternPrimary()
	r := &ast.PatternRepeat{Pattern: e, Max: -1}
	switch {
	case p.skip("*"):
	case p.skip("+"):
		r.Min = 1
	case p.skip("?"):
		r.Max = 1
	case p.is("{") && p.ahead(1).word != "-":
		p.at++
		if p.skip(",") {
			r.Min = -1
			r.Max, _ = p.unsigned()
		} else {
			r.Min, _ = p.unsigned()
			r.Max = r.Min
			if p.skip(",") {
				r.Max = -1
				if !p.is("}") {
					r.Max, _ = p.unsigned()
				}
			}
		}
		p.expect("}")
	default:
		return e
	}
	r.Reluctant = p.skip("?")
	r.Span = p.from(start)
	return r
}

func (p *parser) patternPrimary() ast.Pattern {
	start := p.start()
	switch {
	case p.skip("("):
		e := p.pattern()
		p.expect(")")
		return e
	case p.skip("{", "-"):
		e := &ast.PatternExclude{Pattern: p.pattern()}
		p.expect("-", "}")
		e.Span = p.from(start)
		return e
	case p.skip("PERMUTE"):
		p.expect("(")
		e := &ast.PatternPermute{Items: []ast.Pattern{p.pattern()}}
		for p.skip(",") {
			e.Items = append(e.Items, p.pattern())
		}
		p.expect(")")
		e.Span = p.from(start)
		return e
	}
	n := p.name(KindName)
	return &ast.PatternVariable{Span: n.Span, Name: n.Text}
}

func (p *parser) patternSubset() *ast.PatternSubset {
	start := p.start()
	s := &ast.PatternSubset{Name: p.name(KindName)}
	p.expect("=")
	s.Members = p.nameList(KindName)
	s.Span = p.from(start)
	return s
}

func (p *parser) patternDefinition() *ast.PatternDefinition {
	start := p.start()
	d := &ast.PatternDefinition{Name: p.name(KindName)}
	p.expect("AS")
	d.Condition = p.expression(0)
	d.Span = p.from(start)
	return d
}
