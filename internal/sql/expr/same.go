package expr

import (
	"fmt"
	"strings"
)

// numbers give equal expressions equal numbers, and a call whose results differ from
// row to row one of its own.
type numbers struct {
	byText map[string]int
	known  map[Expr]int
	next   int
}

// of is the number of an expression.
func (n *numbers) of(e Expr) int {
	if id, ok := n.known[e]; ok {
		return id
	}
	if n.known == nil {
		n.byText, n.known = map[string]int{}, map[Expr]int{}
	}
	text := e.String
	if c, ok := e.(*Call); ok {
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s", c.Fn.Name, c.T)
		for _, a := range c.Args {
			fmt.Fprintf(&b, " %d", n.of(a))
		}
		if c.Fn.Volatility == PerRow {
			fmt.Fprintf(&b, " %p", c)
		}
		text = b.String
	}
	key := text()
	id, ok := n.byText[key]
	if !ok {
		n.next++
		id = n.next
		n.byText[key] = id
	}
	n.known[e] = id
	return id
}
