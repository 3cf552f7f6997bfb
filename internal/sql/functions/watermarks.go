package functions

import (
	"errors"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// watermarks are the functions that ask for watermarks, which a batch has none of.
func watermarks() []*expr.Function {
	current := own(bound("CURRENT_WATERMARK", "temporal", "CURRENT_WATERMARK(rowtime)", "The watermark of the rows so far; NULL if there is none yet.", inferWatermark, func(*expr.Bound) (expr.Kernel, error) {
		return func(out *batch.Column, _ []*batch.Column, rows expr.Rows) error {
			clear(out.I64)
			out.AllNull()
			return nil
		}, nil
	}))
	source := bound("SOURCE_WATERMARK", "temporal", "SOURCE_WATERMARK()", "Says in a WATERMARK clause that the source has watermarks.", giving("", always(ltz3)), func(*expr.Bound) (expr.Kernel, error) {
		return trying(func(row) (int64, bool, error) {
			return 0, false, errors.New("SOURCE_WATERMARK() has no value: it stands in a WATERMARK clause only")
		}), nil
	})
	current.Volatility, source.Volatility = expr.PerRow, expr.PerRow
	return []*expr.Function{current, source}
}

// inferWatermark takes a rowtime attribute.
func inferWatermark(s *expr.Site) (types.Type, error) {
	if err := s.Count(1, 1); err != nil {
		return types.Type{}, err
	}
	t := s.Type(0)
	switch {
	case !t.Kind.IsTimestamp() || t.Time != types.Rowtime:
		return t, s.Refuse("the argument of CURRENT_WATERMARK must be a rowtime attribute, and this is %s", t)
	case s.Session.Streaming:
		return t, s.Refuse("CURRENT_WATERMARK is not supported in a streaming query; compare with window_time, or with the rowtime of other rows")
	}
	t.Time = types.NoTime
	return t.OrNull(), nil
}
