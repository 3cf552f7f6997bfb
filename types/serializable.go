package types

import (
	"fmt"
	"strings"
)

// Serializable writes the type with nothing cut short: STRING is VARCHAR(2147483647).
func (t Type) Serializable() string {
	if !t.Nullable {
		return t.OrNull().Serializable() + " NOT NULL"
	}
	switch t.Kind {
	case VarChar:
		return fmt.Sprintf("VARCHAR(%d)", t.Length)
	case VarBinary:
		return fmt.Sprintf("VARBINARY(%d)", t.Length)
	case TimestampLTZ:
		return fmt.Sprintf("TIMESTAMP(%d) WITH LOCAL TIME ZONE", t.Precision)
	case Array:
		return "ARRAY<" + t.Elem.Serializable() + ">"
	case Multiset:
		return "MULTISET<" + t.Elem.Serializable() + ">"
	case Map:
		return "MAP<" + t.Key.Serializable() + ", " + t.Elem.Serializable() + ">"
	case Row:
		var fields []string
		for _, f := range t.Fields {
			text := Quote(f.Name) + " " + f.Type.Serializable()
			if f.Comment != "" {
				text += " '" + strings.ReplaceAll(f.Comment, "'", "''") + "'"
			}
			fields = append(fields, text)
		}
		return "ROW<" + strings.Join(fields, ", ") + ">"
	}
	t.Time = NoTime
	return t.Text()
}
