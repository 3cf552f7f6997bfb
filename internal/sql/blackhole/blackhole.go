// Package blackhole is the connector of tables that take rows and keep none.
//
// It promises that a query which writes to such a table computes all of its rows. It
// never reads anything.
package blackhole

import (
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/connector"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
)

// Connector is the connector.
type Connector struct{}

// Declaration says what the connector can do.
func (Connector) Declaration() connector.Declaration {
	return connector.Declaration{Sink: true, Partitions: true, Changes: func(map[string]string) string { return "I,UB,UA,D" }}
}

// Source refuses: there is nothing to read.
func (Connector) Source(s *plan.Scan, _ *expr.Session) (exec.End, error) {
	return exec.End{}, fmt.Errorf("table %s: connector 'blackhole' writes only", s.Table)
}

// Sink takes rows.
func (Connector) Sink(*plan.Write, *expr.Session) (exec.End, error) {
	return exec.End{Operator: operator.Sink(func(*operator.Context) (func(*batch.Columns) error, func() error, error) {
		return func(*batch.Columns) error { return nil }, nil, nil
	})}, nil
}
