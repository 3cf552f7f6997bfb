package expr

import (
	"github.com/weirstream/weir/internal/sql/ast"
)

// json makes calls of the JSON functions, whose clauses become arguments that are
// symbols, in fixed places:
//
//	JSON_EXISTS(input, path, onError)
//	JSON_VALUE(input, path, onEmpty, defaultOnEmpty, onError, defaultOnError)
//	JSON_QUERY(input, path, wrapper, onEmpty, onError)
//	JSON_OBJECT(onNull, key, value, format, key, value, format, …)
//	JSON_ARRAY(onNull, value, format, value, format, …)
//
// A clause that was not written is the symbol of no letters, and so is a default that
// there is not; format is JSON or none. RETURNING is Site.Returning.
func (b *Binder) json(n ast.Expr) (Expr, error) {
	c := jsonCall{b: b, at: n.Range()}
	switch n := n.(type) {
	case *ast.JSONExists:
		c.name = "JSON_EXISTS"
		c.expr(n.Input)
		c.expr(n.Path)
		c.behaviour(n.OnError, false)
	case *ast.JSONValue:
		c.name, c.returning = "JSON_VALUE", n.Returning
		c.expr(n.Input)
		c.expr(n.Path)
		c.behaviour(n.OnEmpty, true)
		c.behaviour(n.OnError, true)
	case *ast.JSONQuery:
		c.name, c.returning = "JSON_QUERY", n.Returning
		c.expr(n.Input)
		c.expr(n.Path)
		c.symbol(n.Wrapper)
		c.behaviour(n.OnEmpty, false)
		c.behaviour(n.OnError, false)
	case *ast.JSONObject:
		c.name = "JSON_OBJECT"
		c.symbol(n.OnNull)
		for _, e := range n.Entries {
			c.expr(e.Key)
			c.value(e.Value)
			c.format(e.Format)
		}
		c.refuse(n.Aggregate)
	case *ast.JSONArray:
		c.name = "JSON_ARRAY"
		c.symbol(n.OnNull)
		for _, e := range n.Elements {
			c.value(e.Value)
			c.format(e.Format)
		}
		c.refuse(n.Aggregate)
	}
	return c.call()
}

// jsonCall collects the arguments of a JSON function.
type jsonCall struct {
	b         *Binder
	at        ast.Span
	name      string
	args      []Expr
	returning ast.DataType
	err       error
}

func (c *jsonCall) expr(n ast.Expr) {
	if c.err != nil {
		return
	}
	e, err := c.b.Expr(n)
	c.args, c.err = append(c.args, e), err
}

// value is an expression, or JSON(…), which is allowed here only.
func (c *jsonCall) value(n ast.Expr) {
	call, ok := n.(*ast.Call)
	if !ok || !call.Name.Is("JSON") || c.err != nil {
		c.expr(n)
		return
	}
	e, err := c.b.call("JSON", n.Range(), call.Args...)
	c.args, c.err = append(c.args, e), err
}

func (c *jsonCall) symbol(word string) { c.args = append(c.args, symbolLiteral(word, c.at)) }

func (c *jsonCall) format(json bool) {
	if json {
		c.symbol("JSON")
	} else {
		c.symbol("")
	}
}

func (c *jsonCall) behaviour(n *ast.JSONBehaviour, withDefault bool) {
	switch {
	case n == nil:
		c.symbol("")
	default:
		c.symbol(n.Kind)
	}
	switch {
	case !withDefault:
	case n == nil || n.Default == nil:
		c.symbol("")
	default:
		c.expr(n.Default)
	}
}

func (c *jsonCall) refuse(aggregate bool) {
	if aggregate && c.err == nil {
		c.err = Refuse(c.at, "%sAGG is an aggregate, and cannot stand here", c.name)
	}
}

func (c *jsonCall) call() (Expr, error) {
	if c.err != nil {
		return nil, c.err
	}
	f, ok := c.b.Registry.Lookup(c.name)
	if !ok {
		return nil, Refuse(c.at, "%s is not supported", c.name)
	}
	site := &Site{Fn: f, Args: c.args, Session: c.b.Session, Registry: c.b.Registry, At: c.at}
	if c.returning != nil {
		t, err := TypeOf(c.returning, c.b.Named)
		if err != nil {
			return nil, err
		}
		site.Returning = &t
	}
	return site.call()
}
