// Package coordinators lists the operator coordinators that are built into every
// master.
//
// It promises that an embedded cluster and a JobManager process know the same
// kinds. It never links an operator.
package coordinators

import (
	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/coordinator/alignment"
	"github.com/weirstream/weir/internal/coordinator/collect"
	"github.com/weirstream/weir/internal/coordinator/files"
	"github.com/weirstream/weir/internal/coordinator/files/glob"
	"github.com/weirstream/weir/internal/coordinator/splits"
)

// Builtin are the kinds a job graph may name.
func Builtin() coordinator.Kinds {
	return coordinator.Kinds{
		alignment.Kind: alignment.Factory, collect.Kind: collect.Factory,
		files.Kind: files.Factory(glob.List), splits.Kind: splits.Factory,
	}
}
