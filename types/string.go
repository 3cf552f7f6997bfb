package types

import (
	"strconv"
	"strings"
)

// names are those of kinds that have no parameters to write.
var names = map[Kind]string{
	Null: "NULL", Boolean: "BOOLEAN", TinyInt: "TINYINT", SmallInt: "SMALLINT", Int: "INT", BigInt: "BIGINT",
	Float: "FLOAT", Double: "DOUBLE", Date: "DATE", Variant: "VARIANT", Bitmap: "BITMAP", Descriptor: "DESCRIPTOR", Symbol: "SYMBOL",
}

// String writes the type as the SQL dialect does, with NOT NULL if it is not nullable.
func (t Type) String() string {
	var b strings.Builder
	t.write(&b)
	if !t.Nullable {
		b.WriteString(" NOT NULL")
	}
	b.WriteString(t.Time.suffix())
	return b.String()
}

// Text writes the type without its outermost nullability.
func (t Type) Text() string { return t.OrNull().String() }

func (t Type) write(b *strings.Builder) {
	switch t.Kind {
	case Decimal:
		b.WriteString("DECIMAL(" + strconv.Itoa(t.Precision) + ", " + strconv.Itoa(t.Scale) + ")")
	case Char:
		b.WriteString("CHAR(" + strconv.Itoa(t.Length) + ")")
	case Binary:
		b.WriteString("BINARY(" + strconv.Itoa(t.Length) + ")")
	case VarChar:
		b.WriteString(unlimited(t.Length, "STRING", "VARCHAR"))
	case VarBinary:
		b.WriteString(unlimited(t.Length, "BYTES", "VARBINARY"))
	case Time:
		b.WriteString("TIME(" + strconv.Itoa(t.Precision) + ")")
	case Timestamp:
		b.WriteString("TIMESTAMP(" + strconv.Itoa(t.Precision) + ")")
	case TimestampLTZ:
		b.WriteString("TIMESTAMP_LTZ(" + strconv.Itoa(t.Precision) + ")")
	case IntervalYearMonth, IntervalDayTime:
		b.WriteString("INTERVAL " + t.interval())
	case Array:
		b.WriteString("ARRAY<" + t.Elem.String() + ">")
	case Multiset:
		b.WriteString("MULTISET<" + t.Elem.String() + ">")
	case Map:
		b.WriteString("MAP<" + t.Key.String() + ", " + t.Elem.String() + ">")
	case Row, Structured:
		t.writeFields(b)
	case Raw:
		b.WriteString("RAW('" + strings.ReplaceAll(t.Name, "'", "''") + "', '...')")
	default:
		b.WriteString(names[t.Kind])
	}
}

func (t Type) writeFields(b *strings.Builder) {
	if t.Kind == Structured {
		b.WriteString("STRUCTURED<'" + strings.ReplaceAll(t.Name, "'", "''") + "', ")
	} else {
		b.WriteString("ROW<")
	}
	for i, f := range t.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(Quote(f.Name) + " " + f.Type.String())
		if f.Comment != "" {
			b.WriteString(" '" + strings.ReplaceAll(f.Comment, "'", "''") + "'")
		}
	}
	b.WriteString(">")
}

func unlimited(length int, unlimited, limited string) string {
	if length == MaxLength {
		return unlimited
	}
	return limited + "(" + strconv.Itoa(length) + ")"
}

// suffix is how a time attribute shows in a table's description.
func (a TimeAttribute) suffix() string {
	switch a {
	case Rowtime:
		return " *ROWTIME*"
	case Proctime:
		return " *PROCTIME*"
	}
	return ""
}

// interval writes an interval's fields: the leading one with its digits but for a
// MONTH, a second with those of its fraction.
func (t Type) interval() string {
	lead, frac := "("+strconv.Itoa(t.Precision)+")", "("+strconv.Itoa(t.Scale)+")"
	switch t.Resolution {
	case Year:
		return "YEAR" + lead
	case YearToMonth:
		return "YEAR" + lead + " TO MONTH"
	case Month:
		return "MONTH"
	case Day:
		return "DAY" + lead
	case DayToHour:
		return "DAY" + lead + " TO HOUR"
	case DayToMinute:
		return "DAY" + lead + " TO MINUTE"
	case DayToSecond:
		return "DAY" + lead + " TO SECOND" + frac
	case Hour:
		return "HOUR"
	case HourToMinute:
		return "HOUR TO MINUTE"
	case HourToSecond:
		return "HOUR TO SECOND" + frac
	case Minute:
		return "MINUTE"
	case MinuteToSecond:
		return "MINUTE TO SECOND" + frac
	case Second:
		return "SECOND" + frac
	}
	return t.Kind.String()
}

// String names the kind.
func (k Kind) String() string {
	if n, ok := names[k]; ok {
		return n
	}
	switch k {
	case Decimal:
		return "DECIMAL"
	case Char:
		return "CHAR"
	case VarChar:
		return "VARCHAR"
	case Binary:
		return "BINARY"
	case VarBinary:
		return "VARBINARY"
	case Time:
		return "TIME"
	case Timestamp:
		return "TIMESTAMP"
	case TimestampLTZ:
		return "TIMESTAMP_LTZ"
	case IntervalYearMonth:
		return "INTERVAL YEAR TO MONTH"
	case IntervalDayTime:
		return "INTERVAL DAY TO SECOND"
	case Array:
		return "ARRAY"
	case Map:
		return "MAP"
	case Multiset:
		return "MULTISET"
	case Row:
		return "ROW"
	case Structured:
		return "STRUCTURED"
	case Raw:
		return "RAW"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Quote writes a name as a quoted identifier.
func Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
