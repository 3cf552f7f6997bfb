package sqlgateway

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/civil"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/floattext"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/internal/sqlgateway/wire"
	"github.com/weirstream/weir/types"
)

// A scripted engine answers the statements it was told of.
type scripted struct {
	mu      sync.Mutex
	answers map[string]func(ctx context.Context) (*session.Result, error)
	opened  []session.Options
	closed  atomic.Int32
	// completing is called while completions are looked for; nil: they are there.
	completing func()
	// opening is received from twice while a session is opened; nil: it is not.
	opening chan struct{}
}

func (e *scripted) Open(_ context.Context, o session.Options) (session.Session, error) {
	if e.opening != nil {
		<-e.opening
		<-e.opening
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opened = append(e.opened, o)
	settings := maps.Clone(o.Settings)
	if settings == nil {
		settings = map[string]string{}
	}
	settings["table.resources.download-dir"] = o.Resources
	return &scriptedSession{e, settings}, nil
}

type scriptedSession struct {
	engine   *scripted
	settings map[string]string
}

func (s *scriptedSession) Execute(ctx context.Context, statement string, _ map[string]string) (*session.Result, error) {
	s.engine.mu.Lock()
	answer := s.engine.answers[statement]
	s.engine.mu.Unlock()
	if answer == nil {
		return nil, &session.Error{Class: session.ClassParse, Text: "SQL parse failed.", Cause: fmt.Errorf("nobody answers %q", statement)}
	}
	return answer(ctx)
}

func (s *scriptedSession) Configure(ctx context.Context, statement string) error {
	if verb, _, _ := strings.Cut(statement, " "); slices.Contains([]string{"SELECT", "SHOW", "EXPLAIN", "INSERT"}, verb) {
		return session.ErrNotConfiguring
	}
	if statement == "" {
		return &session.Error{Class: session.ClassParseEnd, Text: `Encountered "<EOF>" at line 0, column 0.`}
	}
	return nil
}

func (s *scriptedSession) Complete(_ context.Context, statement string, position int) ([]string, error) {
	if s.engine.completing != nil {
		s.engine.completing()
	}
	return []string{fmt.Sprintf("%s|%s", statement[:position], statement[position:])}, nil
}

func (s *scriptedSession) Settings() map[string]string { return s.settings }

func (s *scriptedSession) Close() error {
	s.engine.closed.Add(1)
	return nil
}

// someRows gives batches, and then an error, which may be io.EOF. With none of both it
// waits until it is closed.
type someRows struct {
	batches []*batch.Columns
	err     error
	once    sync.Once
	done    chan struct{}
}

func newRows(err error, batches ...*batch.Columns) *someRows {
	return &someRows{batches: batches, err: err, done: make(chan struct{})}
}

func (r *someRows) Next(ctx context.Context) (*batch.Columns, error) {
	if len(r.batches) > 0 {
		b := r.batches[0]
		r.batches = r.batches[1:]
		return b, nil
	}
	if r.err != nil {
		return nil, r.err
	}
	select {
	case <-r.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *someRows) Close() error {
	r.once.Do(func() { close(r.done) })
	return nil
}

// fromJSON makes columns of rows as the API has them in JSON.
func fromJSON(t *testing.T, schema []types.Field, rows []recordedRow) *batch.Columns {
	t.Helper()
	b := &batch.Columns{N: len(rows)}
	for _, f := range schema {
		b.Cols = append(b.Cols, batch.NewColumn(f.Type))
	}
	for _, row := range rows {
		kind, ok := wire.ParseRowKind(row.Kind)
		if !ok {
			t.Fatalf("row kind %q", row.Kind)
		}
		b.Kind = append(b.Kind, kind)
		for i, f := range schema {
			appendValue(t, b.Cols[i], f.Type, row.Fields[i])
		}
	}
	return b
}

type recordedRow struct {
	Kind   string           `json:"kind"`
	Fields []jsontext.Value `json:"fields"`
}

// appendValue appends a value that the API writes in JSON.
func appendValue(t *testing.T, c *batch.Column, typ types.Type, v jsontext.Value) {
	t.Helper()
	if v.Kind() == 'n' {
		c.AppendNull()
		return
	}
	text := string(v)
	if v.Kind() == '"' {
		if err := json.Unmarshal(v, &text); err != nil {
			t.Fatal(err)
		}
	}
	ok := true
	switch typ.Kind {
	case types.Boolean:
		batch.Append(c, text == "true")
	case types.TinyInt:
		batch.Append(c, int8(number[int64](t, text)))
	case types.SmallInt:
		batch.Append(c, int16(number[int64](t, text)))
	case types.Int, types.IntervalYearMonth:
		batch.Append(c, int32(number[int64](t, text)))
	case types.BigInt, types.IntervalDayTime:
		batch.Append(c, number[int64](t, text))
	case types.Float, types.Double:
		var f float64
		f, ok = floattext.Parse([]byte(text), 64)
		if typ.Kind == types.Float {
			batch.Append(c, float32(f))
		} else {
			batch.Append(c, f)
		}
	case types.Decimal:
		d, _ := decimal.Parse([]byte(text), typ.Precision, typ.Scale)
		if c.Layout == batch.Int64s {
			batch.Append(c, decimal.Low(d))
		} else {
			batch.Append(c, d)
		}
	case types.Char, types.VarChar:
		c.AppendBytes([]byte(text))
	case types.Binary, types.VarBinary:
		data, err := base64.StdEncoding.DecodeString(text)
		ok = err == nil
		c.AppendBytes(data)
	case types.Date:
		var days int
		days, ok = civil.ParseDate([]byte(text))
		batch.Append(c, int32(days))
	case types.Time:
		var millis int
		millis, ok = civil.ParseTime([]byte(text))
		batch.Append(c, int32(millis))
	case types.Timestamp, types.TimestampLTZ:
		var millis int64
		var nanos int32
		millis, nanos, ok = civil.ParseTimestamp([]byte(strings.TrimSuffix(strings.Replace(text, "T", " ", 1), "Z")))
		c.AppendMoment(millis, nanos)
	case types.Array:
		var all []jsontext.Value
		ok = json.Unmarshal(v, &all) == nil
		for _, e := range all {
			appendValue(t, c.Children[0], *typ.Elem, e)
		}
		c.EndCollection()
	case types.Map, types.Multiset:
		key, value := typ.Key, typ.Elem
		if typ.Kind == types.Multiset {
			count := types.Of(types.Int)
			key, value = typ.Elem, &count
		}
		for name, e := range members(t, v) {
			quoted, _ := jsontext.AppendQuote(nil, name)
			appendValue(t, c.Children[0], *key, quoted)
			appendValue(t, c.Children[1], *value, e)
		}
		c.EndCollection()
	case types.Row:
		i := 0
		for _, e := range members(t, v) {
			appendValue(t, c.Children[i], typ.Fields[i].Type, e)
			i++
		}
		c.EndRow()
	default:
		t.Fatalf("%v has no values in JSON", typ)
	}
	if !ok {
		t.Fatalf("%q is no %v", text, typ)
	}
}

func number[T int64](t *testing.T, text string) T {
	t.Helper()
	var n T
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// members gives the members of an object in their order.
func members(t *testing.T, v jsontext.Value) func(func(string, jsontext.Value) bool) {
	return func(yield func(string, jsontext.Value) bool) {
		d := jsontext.NewDecoder(strings.NewReader(string(v)))
		_, err := d.ReadToken()
		for err == nil && d.PeekKind() != '}' {
			var name jsontext.Token
			name, err = d.ReadToken()
			text := name.String()
			member, problem := d.ReadValue()
			if err = cmp.Or(err, problem); err == nil && !yield(text, member.Clone()) {
				return
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// texts are columns of one row's worth of texts each, whatever the types: Show gives
// them back.
func texts(t *testing.T, schema []types.Field, rows []recordedRow) *batch.Columns {
	t.Helper()
	all := make([]types.Field, len(schema))
	for i := range all {
		all[i].Type = types.String()
	}
	return fromJSON(t, all, rows)
}

func showBytes(_ types.Type, c *batch.Column, i int) string { return string(c.Bytes(i)) }
