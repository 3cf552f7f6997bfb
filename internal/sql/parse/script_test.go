package parse

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/sql/ast"
)

// The scripts under testdata give texts and what is read from them:
//
//	statement, expression, type: the text as it is written again
//	quoted: a statement as Flink shows it
//	tree: the nodes of a statement, with the text each was read from
//	split: the statements of a script
//	complete: what may stand at the mark ▮
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "statement":
				return written(t, d.Input, statementNode)
			case "expression":
				return written(t, d.Input, expressionNode)
			case "type":
				return written(t, d.Input, typeNode)
			case "quoted":
				return asFlink(t, d.Input)
			case "tree":
				n, err := Statement(d.Input)
				if err != nil {
					return err.Error()
				}
				var b strings.Builder
				dump(&b, d.Input, n, 0)
				return b.String()
			case "split":
				var b strings.Builder
				for _, p := range Split(d.Input) {
					fmt.Fprintf(&b, "%d to %d, terminated %t: %q\n", p.Start, p.End, p.Terminated, p.Text)
				}
				return b.String()
			case "complete":
				before, after, ok := strings.Cut(d.Input, "▮")
				if !ok {
					d.Fatalf(t, "no mark")
				}
				return completed(Complete(before+after, len(before)))
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// written reads a text and writes it again.
func written(t *testing.T, source string, read func(string) (ast.Node, error)) string {
	n, err := read(source)
	if err != nil {
		return err.Error()
	}
	roundTrip(t, source, n, read)
	return ast.String(n)
}

// dump writes a node and those below it, one a line.
func dump(b *strings.Builder, source string, n ast.Node, depth int) {
	name := strings.TrimPrefix(reflect.TypeOf(n).String(), "*ast.")
	fmt.Fprintf(b, "%s%s %q\n", strings.Repeat("  ", depth), name, n.Range().Text(source))
	ast.Children(n, func(c ast.Node) { dump(b, source, c, depth+1) })
}

// completed writes what a completion offers.
func completed(c Completion) string {
	var b strings.Builder
	line := func(name string, words ...string) {
		if len(words) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(words, " "))
		}
	}
	line("prefix", strings.Fields(c.Prefix)...)
	line("qualifier", c.Qualifier...)
	var kinds []string
	for _, k := range c.Kinds {
		kinds = append(kinds, "["+string(k)+"]")
	}
	line("kinds", kinds...)
	line("keywords", c.Keywords...)
	for _, r := range c.Relations {
		fmt.Fprintf(&b, "relation: %s", strings.Join(r.Table, "."))
		if r.Alias != "" {
			fmt.Fprintf(&b, " AS %s", r.Alias)
		}
		if r.Columns != nil {
			fmt.Fprintf(&b, " (%s)", strings.Join(r.Columns, ", "))
		}
		b.WriteString("\n")
	}
	line("common tables", c.CommonTables...)
	return b.String()
}

// asFlink writes a statement as Flink shows it.
func asFlink(t *testing.T, source string) string {
	n, err := Statement(source)
	if err != nil {
		return err.Error()
	}
	text := ast.Quoted(n)
	again, err := Statement(text)
	if err != nil || !ast.Equal(n, again) {
		t.Errorf("%s\nis shown as\n%s\nwhich is not the same: %v", source, text, err)
	}
	return text
}
