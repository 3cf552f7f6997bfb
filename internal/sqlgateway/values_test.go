package sqlgateway

import (
	"errors"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/decimal"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

func TestDecimalsLoseTheirZeros(t *testing.T) {
	for _, c := range []struct {
		unscaled int64
		scale    int
		want     string
	}{
		{150, 2, "1.5"}, {0, 5, "0"}, {100, 0, "1E+2"}, {-1200, 1, "-1.2E+2"}, {1, 7, "1E-7"}, {12, 8, "1.2E-7"}, {1, 6, "0.000001"}, {-5, 0, "-5"},
		{123456, 3, "123.456"}, {1234560, 3, "1234.56"}, {10, 1, "1"}, {-1, 1, "-0.1"},
	} {
		if got := string(appendDecimal(nil, decimal.FromInt64(c.unscaled), c.scale)); got != c.want {
			t.Errorf("%d with scale %d: %s, want %s", c.unscaled, c.scale, got, c.want)
		}
	}
}

func TestMoments(t *testing.T) {
	for _, c := range []struct {
		millis int64
		nanos  int32
		want   string
	}{
		{0, 0, "1970-01-01T00:00:00"}, {-1, 0, "1969-12-31T23:59:59.999"}, {1704164645123, 456789, "2024-01-02T03:04:05.123456789"},
		{1704164645500, 0, "2024-01-02T03:04:05.5"},
	} {
		if got := string(appendMoment(nil, c.millis, c.nanos)); got != c.want {
			t.Errorf("%d and %d ns: %s, want %s", c.millis, c.nanos, got, c.want)
		}
	}
}

// Only rows that are selected are written, and values without a form in JSON refused.
func TestRows(t *testing.T) {
	integer := batch.NewColumn(types.Of(types.Int))
	for i := range int32(4) {
		batch.Append(integer, i)
	}
	byNumber := types.MapOf(types.Of(types.Int), types.String())
	m := batch.NewColumn(byNumber)
	for range 4 {
		batch.Append(m.Children[0], int32(7))
		m.Children[1].AppendBytes([]byte("x"))
		m.EndCollection()
	}
	w := rowWriter{formatJSON, &session.Result{
		Schema: []types.Field{{Name: "i", Type: types.Of(types.Int)}, {Name: "m", Type: byNumber}},
		Show:   func(types.Type, *batch.Column, int) string { return "7" },
	}}
	b := &batch.Columns{N: 4, Cols: []*batch.Column{integer, m}, Sel: []int32{1, 3}, Kind: []batch.RowKind{0, batch.Delete, 0, batch.UpdateAfter}}
	got, err := w.rows(nil, b, 0)
	if want := `{"kind":"DELETE","fields":[1,{"7":"x"}]},{"kind":"UPDATE_AFTER","fields":[3,{"7":"x"}]}`; err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	w.result.Schema[0].Type = types.Of(types.Variant)
	if _, err := w.rows(nil, b, 0); !errors.Is(err, errNoJSON) {
		t.Error(err)
	}
}
