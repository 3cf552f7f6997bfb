package ast

import "strings"

// Span is the half open range of bytes in the text that a node was read from.
// Both are zero for a node that was not read.
type Span struct{ Start, End int }

// Range gives the span; every node has it by embedding.
func (s Span) Range() Span { return s }

// To is the span from the start of s to the end of e.
func (s Span) To(e Span) Span { return Span{s.Start, e.End} }

// Text cuts the span out of the text it was read from.
func (s Span) Text(text string) string {
	if s.Start < 0 || s.End > len(text) || s.Start > s.End {
		return ""
	}
	return text[s.Start:s.End]
}

// Node is a part of the tree.
type Node interface {
	Range() Span
	// children gives each node directly below to f, in the order of the text.
	children(f func(Node))
	// write writes the node as SQL.
	write(w *writer)
}

// Statement is what can be run: a *Query, or a statement of ddl.go, dml.go,
// show.go and session.go.
type Statement interface {
	Node
	statement()
}

// Name is one identifier, without its quotes.
type Name struct {
	Span
	Text string
}

// ObjectName is a table, view, function, … by one to three parts:
// [[catalog.]database.]name. It has at least one part.
type ObjectName struct {
	Span
	Parts []Name
}

// Last is the object's own name.
func (n *ObjectName) Last() string { return n.Parts[len(n.Parts)-1].Text }

// Strings are the parts' texts.
func (n *ObjectName) Strings() []string {
	parts := make([]string, len(n.Parts))
	for i, p := range n.Parts {
		parts[i] = p.Text
	}
	return parts
}

// Is says whether the name has one part, which is the word given whatever its
// case, as built-in functions are named.
func (n *ObjectName) Is(word string) bool {
	return len(n.Parts) == 1 && strings.EqualFold(n.Parts[0].Text, word)
}

// Option is 'key' = 'value' in WITH, SET and OPTIONS hints.
type Option struct {
	Span
	Key, Value *StringLiteral
}

// Position is a place in a text as people count: lines from 1, and characters
// of the line from 1.
type Position struct{ Line, Column int }

// Locate gives the place of a byte of the text. A byte beyond the text's end is
// the place of the end.
func Locate(text string, offset int) Position {
	offset = min(max(offset, 0), len(text))
	p := Position{Line: 1, Column: 1}
	for _, r := range text[:offset] {
		if r == '\n' {
			p = Position{Line: p.Line + 1, Column: 1}
			continue
		}
		p.Column++
	}
	return p
}

// Walk calls visit with n and all nodes below it, parents first, in the order
// of the text. Where visit returns false, what lies below is left out.
func Walk(n Node, visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	n.children(func(c Node) { Walk(c, visit) })
}

// Children calls f with each node directly below n.
func Children(n Node, f func(Node)) { n.children(f) }

// each gives the nodes of a list to f.
func each[N Node](list []N, f func(Node)) {
	for _, n := range list {
		f(n)
	}
}

// some gives a node to f that may be missing.
func some[T any, N interface {
	*T
	Node
}](n N, f func(Node)) {
	if n != nil {
		f(n)
	}
}

// expr gives an expression to f that may be missing.
func expr(e Expr, f func(Node)) {
	if e != nil {
		f(e)
	}
}

func (*Name) children(func(Node))           {}
func (n *ObjectName) children(f func(Node)) { names(n.Parts, f) }

func (n *Option) children(f func(Node)) {
	f(n.Key)
	f(n.Value)
}

// names gives each identifier of a list to f.
func names(list []Name, f func(Node)) {
	for i := range list {
		f(&list[i])
	}
}
