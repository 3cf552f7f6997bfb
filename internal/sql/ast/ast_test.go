package ast

import (
	"slices"
	"testing"
)

func TestLocate(t *testing.T) {
	text := "ab\nä日c\n"
	for offset, want := range map[int]Position{
		-1: {1, 1}, 0: {1, 1}, 2: {1, 3}, 3: {2, 1}, 5: {2, 2}, 8: {2, 3}, 9: {2, 4}, 10: {3, 1}, 99: {3, 1},
	} {
		if got := Locate(text, offset); got != want {
			t.Errorf("byte %d is at %v, not %v", offset, got, want)
		}
	}
}

func TestQuotes(t *testing.T) {
	for name, want := range map[string]string{
		"id": "id", "ID_1": "ID_1", "order": "`order`", "a b": "`a b`", "a`b": "`a``b`", "1a": "`1a`", "name": "name",
		"dateTime": "`dateTime`", "key": "`key`", "größe": "`größe`", "": "``",
	} {
		if got := QuoteName(name); got != want {
			t.Errorf("%s is quoted as %s", name, got)
		}
	}
	if got := QuoteString("it's"); got != "'it''s'" {
		t.Error(got)
	}
}

func TestKeywords(t *testing.T) {
	for word, want := range map[string][4]bool{
		// reserved, a name, a function, niladic
		"select": {true, false, false, false}, "Count": {true, false, true, false}, "CURRENT_DATE": {true, false, true, true},
		"datetime": {true, true, false, false}, "final": {false, true, false, false}, "tumble": {false, true, false, false},
	} {
		k := LookUp(word)
		got := [4]bool{k.IsReserved(), k.IsName(), k.IsFunction(), k.IsNiladic()}
		if got != want || k.Word == "" {
			t.Errorf("%s: %v", word, got)
		}
	}
	if k := LookUp("auction"); k.Word != "" || k.IsReserved() || !k.IsName() {
		t.Errorf("%+v", k)
	}
}

func id(name string) *Identifier { return &Identifier{Parts: []Name{{Text: name}}} }

// A tree made by hand is written with the parentheses it needs.
func TestParentheses(t *testing.T) {
	binary := func(op BinaryOp, l, r Expr) Expr { return &Binary{Op: op, Left: l, Right: r} }
	for want, e := range map[string]Expr{
		"x - (y - z)":                 binary(Subtract, id("x"), binary(Subtract, id("y"), id("z"))),
		"x - y - z":                   binary(Subtract, binary(Subtract, id("x"), id("y")), id("z")),
		"(x OR y) AND z":              binary(And, binary(Or, id("x"), id("y")), id("z")),
		"NOT (x AND y)":               &Unary{Op: Not, Operand: binary(And, id("x"), id("y"))},
		"-(x + y)":                    &Unary{Op: Negate, Operand: binary(Add, id("x"), id("y"))},
		"(NOT x) IS NOT NULL":         &Is{Operand: &Unary{Op: Not, Operand: id("x")}, Not: true, Test: "NULL"},
		"(x).y":                       &Field{Operand: id("x"), Name: Name{Text: "y"}},
		"(-x)[y]":                     &Index{Operand: &Unary{Op: Negate, Operand: id("x")}, Index: id("y")},
		"(x IS NULL) BETWEEN y AND z": &Between{Operand: &Is{Operand: id("x"), Test: "NULL"}, Low: id("y"), High: id("z")},
	} {
		got := String(e)
		if got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
	union := &SetOperation{Kind: "UNION", Left: &ExplicitTable{Name: ObjectName{Parts: []Name{{Text: "x"}}}}, Right: &ExplicitTable{Name: ObjectName{Parts: []Name{{Text: "y"}}}}}
	if got := String(&SetOperation{Kind: "INTERSECT", Left: union, Right: union}); got != "(TABLE x UNION TABLE y) INTERSECT (TABLE x UNION TABLE y)" {
		t.Error(got)
	}
}

func TestWalk(t *testing.T) {
	e := &Case{Operand: id("x"), Whens: []*When{{Conditions: []Expr{id("y")}, Result: id("z")}}, Else: id("w")}
	var seen []string
	Walk(e, func(n Node) bool {
		if i, ok := n.(*Identifier); ok {
			seen = append(seen, i.Parts[0].Text)
		}
		_, when := n.(*When)
		return !when
	})
	if !slices.Equal(seen, []string{"x", "w"}) {
		t.Errorf("%v", seen)
	}
	Walk(nil, func(Node) bool { t.Error("called"); return true })
	if !Equal(e, &Case{Span: Span{3, 4}, Operand: id("x"), Whens: e.Whens, Else: id("w")}) || Equal(e, id("x")) {
		t.Error("equal is not as written")
	}
}
