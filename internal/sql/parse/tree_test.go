package parse

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/weirstream/weir/internal/sql/ast"
)

func statementNode(source string) (ast.Node, error)  { return Statement(source) }
func expressionNode(source string) (ast.Node, error) { return Expression(source) }
func typeNode(source string) (ast.Node, error)       { return Type(source) }

// roundTrip checks that a tree survives being written and read, that its walk
// misses nothing, and that its spans lie in each other.
func roundTrip(t testing.TB, source string, n ast.Node, read func(string) (ast.Node, error)) {
	t.Helper()
	written := ast.String(n)
	again, err := read(written)
	if err != nil {
		t.Errorf("%s\nis written as\n%s\nwhich is refused: %v", source, written, err)
		return
	}
	if d := difference(reflect.ValueOf(n), reflect.ValueOf(again), ""); d != "" {
		t.Errorf("%s\nis written as\n%s\nwhich is another tree: %s", source, written, d)
	}
	if second := ast.String(again); second != written {
		t.Errorf("%s\nis written as\n%s\nand then as\n%s", source, written, second)
	}
	checkTree(t, source, n)
}

var (
	spanType = reflect.TypeFor[ast.Span]()
	nodeType = reflect.TypeFor[ast.Node]()
)

// difference says where two trees differ, apart from their spans.
func difference(a, b reflect.Value, path string) string {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return fmt.Sprintf("%s: %v and %v", path, a, b)
	}
	if !a.IsValid() || a.Type() == spanType {
		return ""
	}
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		if a.IsNil() != b.IsNil() {
			return fmt.Sprintf("%s: one is missing", path)
		}
		if a.IsNil() {
			return ""
		}
		return difference(a.Elem(), b.Elem(), path)
	case reflect.Struct:
		for i := range a.NumField() {
			if d := difference(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name); d != "" {
				return d
			}
		}
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d and %d", path, a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := difference(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i)); d != "" {
				return d
			}
		}
	default:
		if !a.Equal(b) {
			return fmt.Sprintf("%s: %v and %v", path, a, b)
		}
	}
	return ""
}

// checkTree checks that Walk visits each node that lies in the tree, and that a
// node's span holds those below.
func checkTree(t testing.TB, source string, root ast.Node) {
	t.Helper()
	walked := map[ast.Node]bool{}
	var visit func(n ast.Node)
	visit = func(n ast.Node) {
		walked[n] = true
		s := n.Range()
		if s.Start > s.End || s.End > len(source) {
			t.Errorf("%s: %T has the span %v", source, n, s)
		}
		ast.Children(n, func(c ast.Node) {
			if r := c.Range(); r != (ast.Span{}) && (r.Start < s.Start || r.End > s.End) {
				t.Errorf("%s: %T at %v holds %T at %v", source, n, s, c, r)
			}
			visit(c)
		})
	}
	visit(root)
	reachable(reflect.ValueOf(root), func(n ast.Node) {
		if !walked[n] {
			t.Errorf("%s: the walk misses %T %s", source, n, ast.String(n))
		}
	})
}

// reachable gives each node in a value to found.
func reachable(v reflect.Value, found func(ast.Node)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Pointer && v.Type().Implements(nodeType) {
			found(v.Interface().(ast.Node))
		}
		reachable(v.Elem(), found)
	case reflect.Struct:
		for i := range v.NumField() {
			reachable(v.Field(i), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			reachable(v.Index(i), found)
		}
	}
}
