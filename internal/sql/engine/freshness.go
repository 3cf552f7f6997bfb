package engine

import (
	"strconv"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
)

// The units of freshness, the greatest first, with how many of each the next one has: a
// table that is written anew is so at the same times of each of those.
var freshnessUnits = []struct {
	name string
	unit time.Duration
	of   int64
}{{"DAY", 24 * time.Hour, 1}, {"HOUR", time.Hour, 24}, {"MINUTE", time.Minute, 60}, {"SECOND", time.Second, 60}}

// every is how much time lies between two times that a table is written anew.
func every(r *catalog.Refresh) time.Duration {
	for _, u := range freshnessUnits {
		if u.name == r.Unit {
			return time.Duration(r.Every) * u.unit
		}
	}
	return 0
}

// refresh reads how a materialized table is to be filled.
func (st *statement) refresh(c *ast.CreateMaterializedTable) (*catalog.Refresh, error) {
	r := &catalog.Refresh{Full: c.RefreshMode == "FULL"}
	if c.Freshness == nil {
		option := config.MaterializedContinuousFreshness
		if r.Full {
			option = config.MaterializedFullFreshness
		}
		r.Every, r.Unit = whole(option.In(st.config))
	} else if err := freshness(r, c.Freshness); err != nil {
		return nil, err
	}
	if c.RefreshMode == "" {
		r.Full = c.Freshness != nil && every(r) >= config.MaterializedFreshnessThreshold.In(st.config)
	}
	if !r.Full {
		return r, nil
	}
	for _, u := range freshnessUnits {
		switch {
		case u.name != r.Unit:
		case u.name == "DAY" && r.Every > 1:
			return nil, expr.Refuse(c.Span, "In full refresh mode, freshness must be 1 when the time unit is DAY.")
		case u.name != "DAY" && r.Every >= u.of:
			return nil, expr.Refuse(c.Span, "In full refresh mode, freshness must be less than %d when the time unit is %s.", u.of, u.name)
		case u.of%r.Every != 0:
			return nil, expr.Refuse(c.Span, "In full refresh mode, only freshness that are factors of %d are currently supported when the time unit is %s.", u.of, u.name)
		}
	}
	return r, nil
}

// whole writes a time as a count of the greatest unit that it is a multiple of.
func whole(d time.Duration) (n int64, unit string) {
	for _, u := range freshnessUnits {
		if d%u.unit == 0 {
			return int64(d / u.unit), u.name
		}
	}
	return max(1, int64(d/time.Second)), "SECOND"
}

// freshness reads an interval of one unit.
func freshness(r *catalog.Refresh, e ast.Expr) error {
	literal, ok := e.(*ast.IntervalLiteral)
	if !ok {
		return expr.Refuse(e.Range(), "the freshness is an interval that is written out, such as INTERVAL '1' MINUTE")
	}
	value := literal.Value.Value
	if literal.Negative {
		value = "-" + value
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n <= 0 {
		return expr.Refuse(literal.Span, "The freshness interval currently only supports positive integer type values. But was: %s", value)
	}
	r.Every, r.Unit = n, literal.Qualifier.From
	if every(r) == 0 || literal.Qualifier.To != "" {
		return expr.Refuse(literal.Span, "The freshness interval only supports SECOND, MINUTE, HOUR, DAY time units.")
	}
	return nil
}
