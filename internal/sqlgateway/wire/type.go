package wire

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strconv"

	"github.com/weirstream/weir/types"
)

// roots are the names of types in the API.
var roots = map[types.Kind]string{
	types.Null: "NULL", types.Boolean: "BOOLEAN", types.TinyInt: "TINYINT", types.SmallInt: "SMALLINT", types.Int: "INTEGER",
	types.BigInt: "BIGINT", types.Float: "FLOAT", types.Double: "DOUBLE", types.Decimal: "DECIMAL", types.Char: "CHAR",
	types.VarChar: "VARCHAR", types.Binary: "BINARY", types.VarBinary: "VARBINARY", types.Date: "DATE", types.Time: "TIME_WITHOUT_TIME_ZONE",
	types.Timestamp: "TIMESTAMP_WITHOUT_TIME_ZONE", types.TimestampLTZ: "TIMESTAMP_WITH_LOCAL_TIME_ZONE",
	types.IntervalYearMonth: "INTERVAL_YEAR_MONTH", types.IntervalDayTime: "INTERVAL_DAY_TIME", types.Array: "ARRAY", types.Map: "MAP",
	types.Multiset: "MULTISET", types.Row: "ROW", types.Structured: "ROW", types.Raw: "RAW", types.Variant: "VARIANT", types.Bitmap: "BITMAP",
	types.Descriptor: "DESCRIPTOR", types.Symbol: "SYMBOL",
}

// AppendType writes a type as the API does. Of an interval it says, as Flink's planner
// does of all, how the values are kept: months, or seconds with milliseconds.
func AppendType(dst []byte, t types.Type) []byte {
	dst = append(dst, `{"type":"`+roots[t.Kind]+`","nullable":`...)
	dst = strconv.AppendBool(dst, t.Nullable)
	switch t.Kind {
	case types.Char, types.VarChar, types.Binary, types.VarBinary:
		dst = appendNumber(dst, "length", t.Length)
	case types.Decimal:
		dst = appendNumber(appendNumber(dst, "precision", t.Precision), "scale", t.Scale)
	case types.Time, types.Timestamp, types.TimestampLTZ:
		dst = appendNumber(dst, "precision", t.Precision)
	case types.IntervalYearMonth:
		dst = append(dst, `,"precision":2,"resolution":"MONTH"`...)
	case types.IntervalDayTime:
		dst = append(dst, `,"precision":2,"fractionalPrecision":3,"resolution":"SECOND"`...)
	case types.Array, types.Multiset:
		dst = AppendType(append(dst, `,"elementType":`...), *t.Elem)
	case types.Map:
		dst = AppendType(append(dst, `,"keyType":`...), *t.Key)
		dst = AppendType(append(dst, `,"valueType":`...), *t.Elem)
	case types.Row, types.Structured:
		dst = append(dst, `,"fields":[`...)
		for i, f := range t.Fields {
			dst = AppendComma(dst, i)
			dst = AppendText(append(dst, `{"name":`...), f.Name)
			dst = AppendType(append(dst, `,"fieldType":`...), f.Type)
			if f.Comment != "" {
				dst = AppendText(append(dst, `,"description":`...), f.Comment)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	case types.Raw:
		dst = AppendText(append(dst, `,"class":`...), t.Name)
	}
	return append(dst, '}')
}

func appendNumber(dst []byte, field string, n int) []byte {
	return strconv.AppendInt(append(dst, `,"`+field+`":`...), int64(n), 10)
}

// AppendComma writes what stands before the i-th of several.
func AppendComma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

// AppendText writes a JSON string; what is no UTF-8 is replaced.
func AppendText[T string | []byte](dst []byte, text T) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // an error says that something was replaced
	return dst
}

// logicalType is a type as the API writes it.
type logicalType struct {
	Type      string         `json:"type"`
	Nullable  bool           `json:"nullable"`
	Length    int            `json:"length"`
	Precision int            `json:"precision"`
	Scale     int            `json:"scale"`
	Fraction  int            `json:"fractionalPrecision"`
	Class     string         `json:"class"`
	Element   jsontext.Value `json:"elementType"`
	Key       jsontext.Value `json:"keyType"`
	Value     jsontext.Value `json:"valueType"`
	Fields    []logicalField `json:"fields"`
}

type logicalField struct {
	Name        string         `json:"name"`
	Type        jsontext.Value `json:"fieldType"`
	Description string         `json:"description"`
}

// kinds are the kinds of types by their names in the API.
var kinds = func() map[string]types.Kind {
	all := map[string]types.Kind{}
	for kind, root := range roots {
		if kind != types.Structured {
			all[root] = kind
		}
	}
	return all
}()

// ParseType reads a type that the API writes.
func ParseType(text jsontext.Value) (types.Type, error) {
	var l logicalType
	if err := json.Unmarshal(text, &l); err != nil {
		return types.Type{}, fmt.Errorf("read a logical type: %w", err)
	}
	kind, ok := kinds[l.Type]
	if !ok {
		return types.Type{}, fmt.Errorf("read a logical type: %q is none that is known", l.Type)
	}
	t := types.Type{Kind: kind, Nullable: l.Nullable, Length: l.Length, Precision: l.Precision, Scale: l.Scale, Name: l.Class}
	switch kind {
	case types.IntervalYearMonth:
		t.Resolution = types.Month
	case types.IntervalDayTime:
		t.Resolution, t.Scale = types.Second, l.Fraction
	}
	err := parsePart(&t.Elem, l.Element)
	if kind == types.Map && err == nil {
		if err = parsePart(&t.Key, l.Key); err == nil {
			err = parsePart(&t.Elem, l.Value)
		}
	}
	for _, f := range l.Fields {
		ft, problem := ParseType(f.Type)
		if problem != nil {
			return types.Type{}, problem
		}
		t.Fields = append(t.Fields, types.Field{Name: f.Name, Type: ft, Comment: f.Description})
	}
	return t, err
}

func parsePart(into **types.Type, text jsontext.Value) error {
	if text == nil {
		return nil
	}
	part, err := ParseType(text)
	*into = &part
	return err
}
