package expr

import (
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/types"
	"slices"
)

// plain are the types whose keyword says all.
var plain = map[string]types.Kind{
	"BOOLEAN": types.Boolean, "TINYINT": types.TinyInt, "SMALLINT": types.SmallInt, "INTEGER": types.Int, "BIGINT": types.BigInt,
	"FLOAT": types.Float, "DOUBLE": types.Double, "DATE": types.Date, "VARIANT": types.Variant, "BITMAP": types.Bitmap, "NULL": types.Null,
}

// TypeOf is the type that was written. It is nullable if nothing else was said;
// intervals keep their fields. named resolves the name of a type that is no keyword,
// and may be nil.
func TypeOf(n ast.DataType, named func(*ast.NamedType) (types.Type, error)) (types.Type, error) {
	t, err := typeOf(n, named)
	return t.WithNull(n.Nullability() != ast.NotNull), err
}

func typeOf(n ast.DataType, named func(*ast.NamedType) (types.Type, error)) (types.Type, error) {
	switch n := n.(type) {
	case *ast.ScalarType:
		return scalarType(n)
	case *ast.CollectionType:
		elem, err := TypeOf(n.Element, named)
		if at, inner := n.Range(), n.Element.Range(); inner.End > at.Start && inner.Start == at.Start {
			elem = elem.NotNull() // t ARRAY
		}
		if n.Kind == "MULTISET" {
			return types.MultisetOf(elem), err
		}
		return types.ArrayOf(elem), err
	case *ast.MapType:
		key, err := TypeOf(n.Key, named)
		if err != nil {
			return key, err
		}
		value, err := TypeOf(n.Value, named)
		return types.MapOf(key, value), err
	case *ast.RowType:
		fields, err := fieldTypes(n.Fields, named)
		return types.RowOf(fields...), err
	case *ast.StructuredType:
		fields, err := fieldTypes(n.Fields, named)
		return types.Type{Kind: types.Structured, Name: n.Class.Value, Fields: fields}, err
	case *ast.RawType:
		return types.Type{Kind: types.Raw, Name: n.Class.Value}, nil
	case *ast.IntervalType:
		return intervalType(n.Qualifier)
	case *ast.NamedType:
		if named != nil {
			return named(n)
		}
		return types.Type{}, Refuse(n.Range(), "there is no type %s", n.Name.Last())
	}
	return types.Type{}, Refuse(n.Range(), "this type is not supported")
}

func fieldTypes(list []*ast.RowField, named func(*ast.NamedType) (types.Type, error)) ([]types.Field, error) {
	fields := make([]types.Field, len(list))
	for i, f := range list {
		t, err := TypeOf(f.Type, named)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(fields[:i], func(o types.Field) bool { return o.Name == f.Name.Text }) {
			return nil, Refuse(f.Name.Span, "Field names must be unique. Found duplicates: [%s]", f.Name.Text)
		}
		fields[i] = types.Field{Name: f.Name.Text, Type: t}
		if f.Comment != nil {
			fields[i].Comment = f.Comment.Value
		}
	}
	return fields, nil
}

func scalarType(n *ast.ScalarType) (types.Type, error) {
	if k, ok := plain[n.Name]; ok {
		return types.Of(k), nil
	}
	said := func(otherwise int) int {
		if n.Precision >= 0 {
			return n.Precision
		}
		return otherwise
	}
	if n.Zone != "" {
		return types.Type{}, Refuse(n.Range(), "%s %s is not supported", n.Name, n.Zone)
	}
	switch n.Name {
	case "CHAR":
		return types.CharOf(said(1)), nil
	case "VARCHAR":
		return types.VarCharOf(said(types.MaxLength)), nil
	case "STRING":
		return types.String(), nil
	case "BINARY":
		return types.BinaryOf(said(1)), nil
	case "VARBINARY":
		return types.VarBinaryOf(said(types.MaxLength)), nil
	case "BYTES":
		return types.Bytes(), nil
	case "TIME":
		return types.TimeOf(min(said(0), 9)), nil
	case "TIMESTAMP":
		return types.TimestampOf(min(said(6), 9)), nil
	case "TIMESTAMP_LTZ":
		return types.TimestampLTZOf(min(said(6), 9)), nil
	case "DECIMAL":
		return decimalType(n, min(said(10), types.MaxPrecision), max(n.Scale, 0))
	}
	return types.Type{}, Refuse(n.Range(), "the type %s is not supported", n.Name)
}

func decimalType(n *ast.ScalarType, precision, scale int) (types.Type, error) {
	switch {
	case precision < 1:
		return types.Type{}, Refuse(n.Range(), "the precision of a DECIMAL is %d, and must be 1 to %d", precision, types.MaxPrecision)
	case scale > precision:
		return types.Type{}, Refuse(n.Range(), "the scale of a DECIMAL is %d, and must be 0 to its precision %d", scale, precision)
	}
	return types.DecimalOf(precision, scale), nil
}

// resolutions are the intervals' fields by what was written.
var resolutions = map[[2]string]types.Resolution{
	{"YEAR", ""}: types.Year, {"YEAR", "MONTH"}: types.YearToMonth, {"MONTH", ""}: types.Month, {"QUARTER", ""}: types.Month,
	{"WEEK", ""}: types.Day, {"DAY", ""}: types.Day, {"DAY", "HOUR"}: types.DayToHour, {"DAY", "MINUTE"}: types.DayToMinute, {"DAY", "SECOND"}: types.DayToSecond,
	{"HOUR", ""}: types.Hour, {"HOUR", "MINUTE"}: types.HourToMinute, {"HOUR", "SECOND"}: types.HourToSecond,
	{"MINUTE", ""}: types.Minute, {"MINUTE", "SECOND"}: types.MinuteToSecond, {"SECOND", ""}: types.Second,
}

func intervalType(q *ast.IntervalQualifier) (types.Type, error) {
	r, ok := resolutions[[2]string{q.From, q.To}]
	if !ok {
		return types.Type{}, Refuse(q.Range(), "there are no intervals from %s to %s", q.From, q.To)
	}
	t := types.Type{Kind: types.IntervalDayTime, Nullable: true, Resolution: r, Precision: 2, Scale: 6}
	if r == types.Year || r == types.YearToMonth || r == types.Month {
		t.Kind = types.IntervalYearMonth
	}
	if q.Precision >= 0 {
		t.Precision = q.Precision
	}
	if q.Fraction >= 0 {
		t.Scale = q.Fraction
	}
	return t, nil
}
