package wire

import (
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/types"
)

func TestTypesComeBack(t *testing.T) {
	for _, typ := range []types.Type{
		types.Of(types.Int), types.Of(types.Boolean).NotNull(), types.DecimalOf(10, 2), types.CharOf(3), types.String(), types.Bytes(), types.TimeOf(3),
		types.TimestampOf(9), types.TimestampLTZOf(3).NotNull(), types.ArrayOf(types.Of(types.Date)), types.MultisetOf(types.String()),
		types.MapOf(types.String().NotNull(), types.ArrayOf(types.Of(types.Double))), types.Of(types.Variant),
		types.RowOf(types.Field{Name: "a\"", Type: types.Of(types.Int), Comment: "c"}, types.Field{Name: "b", Type: types.RowOf()}),
		{Kind: types.IntervalDayTime, Precision: 2, Scale: 3, Resolution: types.Second}, {Kind: types.IntervalYearMonth, Precision: 2, Resolution: types.Month},
	} {
		text := AppendType(nil, typ)
		got, err := ParseType(text)
		if err != nil || !got.Equal(typ) {
			t.Errorf("%v: %s gives %v, %v", typ, text, got, err)
		}
	}
	for _, text := range []string{`{"type":"NOPE"}`, `[]`, `{"type":"ARRAY","elementType":{"type":"?"}}`, `{"type":"ROW","fields":[{"name":"a","fieldType":{}}]}`} {
		if got, err := ParseType([]byte(text)); err == nil {
			t.Errorf("%s is accepted as %v", text, got)
		}
	}
}

func TestRowKinds(t *testing.T) {
	for _, k := range []batch.RowKind{batch.Insert, batch.UpdateBefore, batch.UpdateAfter, batch.Delete} {
		if got, ok := ParseRowKind(RowKind(k)); !ok || got != k {
			t.Errorf("%v: %v", k, got)
		}
	}
	if _, ok := ParseRowKind("x"); ok {
		t.Error("x is no row kind")
	}
}
