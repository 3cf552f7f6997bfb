// Package datagen is the connector of tables whose rows are made up: for tests,
// demonstrations and load, with the options of Flink's.
//
// It promises that the rows of a sequence are the same whenever they are made, and each is
// made once, also after a failure and at another parallelism; that random values of a row
// are the same in all attempts of a job; and that no more rows come in a second than is
// asked for. It never keeps rows.
package datagen

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
	made "github.com/weirstream/weir/connector/datagen"
	"github.com/weirstream/weir/internal/operator"
	declared "github.com/weirstream/weir/internal/sql/connector"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
)

// Connector is the connector.
type Connector struct{}

// The table options besides those of fields.
const (
	perSecond    = "rows-per-second"
	numberOfRows = "number-of-rows"
	// defaultPerSecond is Flink's.
	defaultPerSecond = 10_000
)

// Declaration says what the connector can do.
func (Connector) Declaration() declared.Declaration {
	return declared.Declaration{Optional: []string{perSecond, numberOfRows, "fields.*"}, Source: true}
}

// Sink refuses: there is nowhere to write to.
func (Connector) Sink(w *plan.Write, _ *expr.Session) (exec.End, error) {
	return exec.End{}, fmt.Errorf("table %s: connector 'datagen' makes rows and takes none", w.Table)
}

// Source makes rows.
func (Connector) Source(s *plan.Scan, session *expr.Session) (exec.End, error) {
	src, err := newSource(s, session)
	if err != nil {
		return exec.End{}, fmt.Errorf("table %s: %w", s.Table, err)
	}
	return exec.End{Operator: operator.FromSource(src), Unbounded: !src.Bounded(), Bound: numberOfRows}, nil
}

// source makes the rows of a scan.
type source struct {
	numbers made.Source[int64]
	fields  []field // those of the scan
}

func newSource(s *plan.Scan, session *expr.Session) (*source, error) {
	o := &options{given: s.Options, used: map[string]bool{}, end: math.MaxInt64, zone: session.Zone}
	src := &source{}
	all := make([]field, len(s.Columns))
	for i, f := range s.Columns {
		var err error
		if all[i], err = o.field("fields."+f.Name, f.Type); err != nil {
			return nil, err
		}
	}
	for _, i := range s.Fields {
		src.fields = append(src.fields, all[i])
	}
	rate, err := o.number(perSecond, 1, math.MaxInt64, defaultPerSecond)
	if err != nil {
		return nil, err
	}
	rows, err := o.number(numberOfRows, 0, math.MaxInt64, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	if err := o.unknown(); err != nil {
		return nil, err
	}
	src.numbers = made.Source[int64]{Make: number, PerSecond: rate}
	if rows = min(rows, o.end); rows < math.MaxInt64 {
		src.numbers.Records = rows
	}
	if rows == 0 {
		src.numbers.Records, src.numbers.Make = 1, nil
	}
	return src, nil
}

// Bounded reports whether the rows have an end.
func (s *source) Bounded() bool { return s.numbers.Bounded() }

// Open makes the generator of one subtask.
func (s *source) Open(c connector.SourceContext, out connector.Output[*batch.Columns]) (connector.Reader, error) {
	if s.numbers.Make == nil {
		return none{}, nil
	}
	r := &reader{fields: s.fields, c: c, out: out}
	seed := fnv.New64a()
	if _, err := seed.Write([]byte(c.Job + c.Operator)); err != nil {
		return nil, err
	}
	r.seed = seed.Sum64()
	numbers, err := s.numbers.Open(c, connector.Output[int64]{
		Emit: func(n int64, _ int64) { r.numbers = append(r.numbers, n) }, Room: func() int { return batch.MaxRows }, Count: out.Count,
	})
	r.Reader = numbers
	return r, err
}

// none has no rows.
type none struct{}

func (none) Poll() (connector.Progress, error) { return connector.Done, nil }
func (none) Add([]byte) error                  { return nil }
func (none) NoMore() error                     { return nil }
func (none) Splits() ([][]byte, error)         { return nil, nil }
func (none) Close() error                      { return nil }

// options are the table's, as they are read.
type options struct {
	given map[string]string
	used  map[string]bool
	end   int64 // how many rows the shortest sequence has
	zone  zone
}

func (o *options) text(key string) (string, bool) {
	o.used[key] = true
	v, ok := o.given[key]
	return v, ok
}

// number reads a whole number.
func (o *options) number(key string, least, most, otherwise int64) (int64, error) {
	text, ok := o.text(key)
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("option '%s' is '%s', want a number from %d to %d", key, text, least, most)
	}
	return n, nil
}

// fraction reads a number with a fraction.
func (o *options) fraction(key string, least, most, otherwise float64) (float64, error) {
	text, ok := o.text(key)
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= least && n <= most) {
		return 0, fmt.Errorf("option '%s' is '%s', want a number from %g to %g", key, text, least, most)
	}
	return n, nil
}

// unknown refuses options of fields that nobody has read.
func (o *options) unknown() error {
	var known []string
	for key := range o.used {
		known = append(known, key)
	}
	rest := map[string]string{}
	for key, value := range o.given {
		if len(key) > len("fields.") && key[:len("fields.")] == "fields." {
			rest[key] = value
		}
	}
	return declared.Declaration{Optional: known}.Check("datagen", rest)
}

var errNoBounds = errors.New("a sequence has a start and an end")
