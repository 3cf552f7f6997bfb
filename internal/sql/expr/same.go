package expr

import (
	"encoding/binary"
)

// numbers give equal expressions equal numbers, and a call whose results differ from
// row to row one of its own. The text of a call is its function, its type and the numbers
// of its arguments, so that numbering takes time in the number of parts only.
type numbers struct {
	byText map[string]int
	known  map[Expr]int
	next   int
	text   []byte
}

// of is the number of an expression.
func (n *numbers) of(e Expr) int {
	if id, ok := n.known[e]; ok {
		return id
	}
	if n.known == nil {
		n.byText, n.known = map[string]int{}, map[Expr]int{}
	}
	id := n.find(e)
	n.known[e] = id
	return id
}

func (n *numbers) find(e Expr) int {
	c, ok := e.(*Call)
	if !ok {
		return n.number([]byte(e.String()))
	}
	args := make([]int, len(c.Args))
	for i, a := range c.Args {
		args[i] = n.of(a)
	}
	if c.Fn.Volatility == PerRow {
		n.next++
		return n.next
	}
	text := append(n.text[:0], c.Fn.Name...)
	text = append(text, 0)
	text = append(text, c.T.String()...)
	for _, id := range args {
		text = binary.AppendUvarint(append(text, 0), uint64(id))
	}
	n.text = text
	return n.number(text)
}

// number is that of a text.
func (n *numbers) number(text []byte) int {
	if id, ok := n.byText[string(text)]; ok {
		return id
	}
	n.next++
	n.byText[string(text)] = n.next
	return n.next
}
