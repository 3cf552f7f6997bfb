package types_test

import (
	"testing"

	"github.com/weirstream/weir/types"
)

func TestString(t *testing.T) {
	row := types.RowOf(types.Field{Name: "a", Type: types.Of(types.Int)}, types.Field{Name: "b`c", Type: types.String().NotNull(), Comment: "it's"})
	for want, typ := range map[string]types.Type{
		"INT":                          types.Of(types.Int),
		"DECIMAL(10, 2) NOT NULL":      types.DecimalOf(10, 2).NotNull(),
		"STRING":                       types.String(),
		"VARCHAR(3)":                   types.VarCharOf(3),
		"BYTES":                        types.Bytes(),
		"BINARY(2) NOT NULL":           types.BinaryOf(2).NotNull(),
		"TIMESTAMP_LTZ(3)":             types.TimestampLTZOf(3),
		"ARRAY<INT NOT NULL> NOT NULL": types.ArrayOf(types.Of(types.Int).NotNull()).NotNull(),
		"MAP<STRING, MULTISET<DATE>>":  types.MapOf(types.String(), types.MultisetOf(types.Of(types.Date))),
		"ROW<`a` INT, `b``c` STRING NOT NULL 'it''s'>": row,
		"INTERVAL SECOND(3)":                           {Kind: types.IntervalDayTime, Nullable: true, Resolution: types.Second, Scale: 3},
		"TIMESTAMP(3) *ROWTIME*":                       {Kind: types.Timestamp, Nullable: true, Precision: 3, Time: types.Rowtime},
	} {
		if got := typ.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestEqual(t *testing.T) {
	a := types.ArrayOf(types.Of(types.Int))
	if !a.Equal(types.ArrayOf(types.Of(types.Int))) || a.Equal(types.ArrayOf(types.Of(types.Int).NotNull())) || a.Equal(a.NotNull()) || !a.EqualButNull(a.NotNull()) {
		t.Error("equality of arrays")
	}
	if types.DecimalOf(10, 2).Equal(types.DecimalOf(10, 3)) {
		t.Error("scales differ")
	}
}
