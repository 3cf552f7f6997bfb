// Package builtin lists what every process that runs SQL knows: the functions, and the
// connectors of tables.
//
// It promises that a gateway, an embedded cluster and a worker know the same. It never
// has a function or connector of its own.
package builtin

import (
	"sync"

	"github.com/weirstream/weir/internal/sql/aggregate"
	"github.com/weirstream/weir/internal/sql/blackhole"
	"github.com/weirstream/weir/internal/sql/datagen"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/filesystem"
	"github.com/weirstream/weir/internal/sql/functions"
	"github.com/weirstream/weir/internal/sql/printing"
)

// Registry has all functions. It is made once and never changed.
var Registry = sync.OnceValue(func() *expr.Registry {
	r := functions.NewRegistry()
	r.Add(aggregate.Functions()...)
	return r
})

// Connectors are those of tables.
func Connectors() exec.Connectors {
	return exec.Connectors{
		"blackhole":  blackhole.Connector{},
		"datagen":    datagen.Connector{},
		"filesystem": filesystem.Connector{Registry: Registry()},
		"print":      printing.Connector{},
	}
}
