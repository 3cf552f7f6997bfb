package parquet

import (
	"fmt"

	"github.com/weirstream/weir/types"
)

// CheckTypes refuses columns of types whose values are not in Parquet files.
func CheckTypes(fields []types.Field) error {
	for _, f := range fields {
		if t := unfit(f.Type); t != nil {
			return fmt.Errorf("column %s: format 'parquet' has no values of type %s", f.Name, t.Text())
		}
	}
	return nil
}

// unfit is the type, or one that it is made of, that has no form in a file; nil: none.
func unfit(t types.Type) *types.Type {
	switch t.Kind {
	case types.Boolean, types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.Float, types.Double, types.Decimal, types.Char, types.VarChar,
		types.Binary, types.VarBinary, types.Date, types.Time, types.Timestamp, types.TimestampLTZ:
		return nil
	case types.Array, types.Multiset:
		return unfit(*t.Elem)
	case types.Map:
		if key := unfit(*t.Key); key != nil {
			return key
		}
		return unfit(*t.Elem)
	case types.Row, types.Structured:
		for _, f := range t.Fields {
			if found := unfit(f.Type); found != nil {
				return found
			}
		}
		if len(t.Fields) > 0 {
			return nil
		}
	}
	return &t
}
