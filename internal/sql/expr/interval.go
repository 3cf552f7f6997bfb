package expr

import (
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/types"
)

// intervalField is a unit of intervals.
type intervalField struct {
	name string
	// size is in months or milliseconds; limit is what the next greater unit has of it.
	size, limit int64
}

// The fields of both kinds of intervals, the greatest first.
var (
	monthFields = []intervalField{{"YEAR", 12, 0}, {"MONTH", 1, 12}}
	dayFields   = []intervalField{{"DAY", 86_400_000, 0}, {"HOUR", 3_600_000, 24}, {"MINUTE", 60_000, 60}, {"SECOND", 1000, 60}}
)

// aliasFields are units of one field that are a number of another.
var aliasFields = map[string]intervalField{"QUARTER": {"MONTH", 3, 0}, "WEEK": {"DAY", 7 * 86_400_000, 0}}

// intervalLiteral reads INTERVAL '…' with its fields: the first has two digits if
// nothing else was said, the others stay below their limits, and seconds have a
// fraction of six digits at most, three of which count.
func intervalLiteral(n *ast.IntervalLiteral) (*Literal, error) {
	q := n.Qualifier
	fields, err := fieldsOf(q)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(n.Value.Value)
	negative := n.Negative
	if text != "" && (text[0] == '-' || text[0] == '+') {
		negative = negative != (text[0] == '-')
		text = text[1:]
	}
	total, problem := intervalValue(text, fields, q)
	if problem != "" {
		return nil, Refuse(n.Range(), "INTERVAL '%s' %s", n.Value.Value, problem)
	}
	if negative {
		total = -total
	}
	l := intervalConstant(fields, total)
	l.At = n.Range()
	return l, nil
}

func intervalConstant(fields []intervalField, total int64) *Literal {
	if isMonths(fields) {
		return Constant(Resolved(types.Type{Kind: types.IntervalYearMonth}), int32(total))
	}
	return Constant(Resolved(types.Type{Kind: types.IntervalDayTime}), total)
}

func isMonths(fields []intervalField) bool {
	return fields[0].name == "YEAR" || fields[0].name == "MONTH"
}

// fieldsOf are the fields from the first to the last of a qualifier.
func fieldsOf(q *ast.IntervalQualifier) ([]intervalField, error) {
	from, to := q.From, q.To
	if to == "" {
		to = from
	}
	if f, ok := aliasFields[from]; ok && to == from {
		return []intervalField{f}, nil
	}
	for _, all := range [][]intervalField{monthFields, dayFields} {
		first := slices.IndexFunc(all, func(f intervalField) bool { return f.name == from })
		last := slices.IndexFunc(all, func(f intervalField) bool { return f.name == to })
		if first >= 0 && last >= first {
			if all[0].name == "DAY" && q.Precision > 3 {
				return nil, Refuse(q.Range(), "%s(%d) has more than 3 digits", from, q.Precision)
			}
			return all[first : last+1], nil
		}
	}
	return nil, Refuse(q.Range(), "there are no intervals from %s to %s", from, to)
}

// separators stand behind the fields.
var separators = map[string]string{"YEAR": "-", "DAY": " ", "HOUR": ":", "MINUTE": ":"}

// intervalValue reads the fields' numbers; problem is empty if it could.
func intervalValue(text string, fields []intervalField, q *ast.IntervalQualifier) (total int64, problem string) {
	const malformed = "has not the form that its units ask for"
	for i, f := range fields {
		part := text
		if i < len(fields)-1 {
			var found bool
			if part, text, found = strings.Cut(text, separators[f.name]); !found {
				return 0, malformed
			}
		}
		fraction := ""
		if f.name == "SECOND" {
			part, fraction, _ = strings.Cut(part, ".")
		}
		v, ok := digits(part, 10)
		if !ok || len(fraction) > 6 || strings.Trim(fraction, "0123456789") != "" {
			return 0, malformed
		}
		precision := 2
		if q.Precision >= 0 {
			precision = q.Precision
		}
		switch {
		case i == 0 && len(strings.TrimLeft(part, "0")) > precision:
			return 0, "has more digits than its first unit: give it a precision, as in " + f.name + "(" + string(rune('0'+min(9, len(part)))) + ")"
		case i > 0 && int64(v) >= f.limit:
			return 0, malformed
		}
		total += int64(v) * f.size
		if fraction != "" {
			millis, _ := digits((fraction + "000")[:3], 3)
			total += int64(millis)
		}
	}
	return total, ""
}
