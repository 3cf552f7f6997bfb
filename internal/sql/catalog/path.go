package catalog

import (
	"strings"

	"github.com/weirstream/weir/types"
)

// Path is the whole name of a table, view or function.
type Path struct {
	Catalog, Database, Object string
}

// String is the path with dots.
func (p Path) String() string { return p.Catalog + "." + p.Database + "." + p.Object }

// Quoted is the path as SQL writes it.
func (p Path) Quoted() string {
	return types.Quote(p.Catalog) + "." + types.Quote(p.Database) + "." + types.Quote(p.Object)
}

// InDatabase is the path below the catalog.
func (p Path) InDatabase() string { return p.Database + "." + p.Object }

// Dotted joins the parts of a name as a person wrote them.
func Dotted(name []string) string { return strings.Join(name, ".") }
