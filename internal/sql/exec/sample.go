package exec

import (
	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
)

// A Sampler is a Connector that can show the first rows of a table without a job.
type Sampler interface {
	// Sample reads at most so many rows; ok is false if this table is read by jobs only.
	Sample(s *plan.Scan, session *expr.Session, rows int) (all []Sampled, ok bool, err error)
}

// Sampled is a row as it was found.
type Sampled struct {
	// Fields are those of the scan; none if Err says why the row cannot be read.
	Fields []SampledField
	Err    error
}

// SampledField is one value of a row.
type SampledField struct {
	// Text is how the value is written, cut to what is shown; Null says that it is none.
	Text string
	Null bool
	// Value is a column of the one value; Err says why there is none.
	Value *batch.Column
	Err   error
}
