package engine

import (
	"strings"

	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/exec"
)

// side is the side table that a path names, as `t$rejects` is one of t; nil: there is
// none.
func (st *statement) side(path catalog.Path) (*catalog.Table, error) {
	i := strings.LastIndexByte(path.Object, '$')
	if i <= 0 {
		return nil, nil
	}
	of := path
	of.Object = path.Object[:i]
	t, err := st.names.Table(of)
	if err != nil || t == nil || t.Kind != catalog.BaseTable {
		return nil, err
	}
	siding, ok := st.o.Connectors[t.Options["connector"]].(exec.Siding)
	if !ok {
		return nil, nil
	}
	columns, options, ok := siding.Side(path.Object[i+1:], of.String(), t.Options)
	if !ok {
		return nil, nil
	}
	side := &catalog.Table{Options: options}
	for _, c := range columns {
		side.Schema.Columns = append(side.Schema.Columns, catalog.Column{Name: c.Name, Type: c.Type})
	}
	return side, nil
}
