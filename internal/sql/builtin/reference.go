package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/expr"
)

// headings are what the categories of functions are called, in the order of the page.
var headings = []struct{ category, title string }{
	{"comparison", "Comparison"}, {"logic", "Logic"}, {"arithmetic", "Numbers"}, {"string", "Texts"}, {"hash", "Hashes"}, {"temporal", "Dates and times"},
	{"conditional", "Conditions"}, {"conversion", "Types"}, {"json", "JSON"}, {"collection", "Collections"}, {"value", "Structured values"}, {"bitmap", "Bitmaps"},
	{"system", "The session"}, {"aggregate", "Aggregates"}, {"window", "Functions over windows"},
}

const preamble = `# Functions

This page is generated from the registry of functions by ` + "`make docs`" + `. A function gives NULL where an argument is NULL, unless its line says
otherwise; what it takes and gives is Flink's, to the type and its nullability.

Where Weir differs:

* Regular expressions are written as for Java and run in time linear in the text. Look-around, back references, possessive quantifiers, atomic
  groups, intersections of classes and ` + "`(?U)`" + ` are refused by name; ` + "`$`" + ` does not match before a line end at the end of a text.
* Paths of JSON have no filters ` + "`[?(…)]`" + `, and of functions at their end only length, size, min, max, sum, avg and keys.
* A time zone that is not known is an error, not UTC. ` + "`UNIX_TIMESTAMP`, `TO_DATE` and `FROM_BASE64`" + ` of a text that cannot be read are NULL.
* ` + "`EXTRACT`" + ` and its like take a TIMESTAMP_LTZ in the session's zone; the epoch is the instant's.
* ` + "`ENCODE` and `DECODE`" + ` know US-ASCII, ISO-8859-1, UTF-8, UTF-16, UTF-16BE and UTF-16LE.
* A text that a function makes has at most 256 MiB.
`

// Reference writes the page of all functions.
func Reference() string {
	byCategory := map[string][]*expr.Function{}
	for _, f := range Registry().Functions() {
		if !strings.HasPrefix(f.Name, "$") { // those no statement can call
			byCategory[f.Category] = append(byCategory[f.Category], f)
		}
	}
	var b strings.Builder
	b.WriteString(preamble)
	for _, h := range headings {
		section(&b, h.title, byCategory[h.category])
		delete(byCategory, h.category)
	}
	for _, category := range slices.Sorted(maps.Keys(byCategory)) {
		section(&b, strings.ToUpper(category[:1])+category[1:], byCategory[category])
	}
	return b.String()
}

func section(b *strings.Builder, title string, functions []*expr.Function) {
	if len(functions) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| written | gives |\n|---|---|\n", title)
	for _, f := range functions {
		doc := f.Doc
		if len(f.Aliases) > 0 {
			doc += " Also " + strings.Join(f.Aliases, ", ") + "."
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.ReplaceAll(f.Usage, "|", `\|`), strings.ReplaceAll(doc, "|", `\|`))
	}
}
