package bind

import (
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
)

// queryHints are the hints of a query: whether they name tables as words, and whether as
// the keys or the value 'table' of options.
var queryHints = map[string]struct{ words, keys, table bool }{
	"BROADCAST": {words: true}, "SHUFFLE_HASH": {words: true}, "SHUFFLE_MERGE": {words: true}, "NEST_LOOP": {words: true},
	"MULTI_JOIN": {words: true}, "STATE_TTL": {keys: true}, "LOOKUP": {table: true}, "OPTIONS": {},
}

// hinted refuses hints of a query that nobody knows, or that name tables that it has not.
// The hints themselves choose how joins are computed, and change no result.
func (s *scope) hinted(hints []*ast.Hint) error {
	for _, h := range hints {
		name := strings.ToUpper(h.Name.Text)
		takes, ok := queryHints[name]
		if !ok {
			return expr.Refuse(h.Span, "there is no hint %s%s", h.Name.Text, nearest(name, []string{"BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP", "MULTI_JOIN", "STATE_TTL", "LOOKUP", "OPTIONS"}))
		}
		if takes.words && len(h.Words) == 0 {
			return expr.Refuse(h.Span, "Invalid hint: %s, expecting at least one table or view specified in hint %s.", name, name)
		}
		var named []string
		for _, w := range h.Words {
			named = append(named, w.Text)
		}
		for _, o := range h.Options {
			if takes.keys {
				named = append(named, o.Key.Value)
			} else if takes.table && strings.EqualFold(o.Key.Value, "table") {
				named = append(named, o.Value.Value)
			}
		}
		for _, n := range named {
			if !s.has(n) {
				return expr.Refuse(h.Span, "The options of following hints cannot match the name of input tables or views:\n`%s` in `%s`", n, name)
			}
		}
	}
	return nil
}

// has reports whether a relation is called so.
func (s *scope) has(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	for _, r := range s.relations {
		if len(r.path) > 0 && r.path[len(r.path)-1] == last {
			return true
		}
	}
	return false
}

// tableHints refuses hints of a table other than OPTIONS, and OPTIONS of a view.
func tableHints(hints []*ast.Hint, view string) error {
	for _, h := range hints {
		switch {
		case !strings.EqualFold(h.Name.Text, "OPTIONS"):
			return expr.Refuse(h.Span, "there is no hint %s of tables; there is OPTIONS", h.Name.Text)
		case view != "":
			return expr.Refuse(h.Span, "View '%s' cannot be enriched with new options. Hints can only be applied to tables.", view)
		}
	}
	return nil
}
