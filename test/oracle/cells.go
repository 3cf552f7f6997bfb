package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// appendCell appends a value as the recordings write it.
func appendCell(r *expr.Registry, c *batch.Column, t types.Type, v any) error {
	if v == nil {
		c.AppendNull()
		return nil
	}
	switch t.Kind {
	case types.Array, types.Multiset, types.Map, types.Row:
		return appendNested(r, c, t, v.([]any))
	case types.Binary, types.VarBinary:
		b, err := hex.DecodeString(v.(string))
		c.AppendBytes(b)
		return err
	case types.IntervalDayTime:
		n, err := v.(json.Number).Int64()
		batch.Append(c, n)
		return err
	case types.IntervalYearMonth:
		n, err := v.(json.Number).Int64()
		batch.Append(c, int32(n))
		return err
	}
	text := fmt.Sprint(v)
	if t.Kind == types.TimestampLTZ {
		text = strings.TrimSuffix(strings.Replace(text, "T", " ", 1), "Z")
	}
	e, err := r.Cast(expr.UTC, expr.Text(text), t.OrNull(), false, ast.Span{})
	if err != nil {
		return err
	}
	l, ok := expr.Fold(e, expr.UTC).(*expr.Literal)
	if !ok || l.IsNull() {
		return fmt.Errorf("%q is no %s", text, t)
	}
	c.AppendFrom(l.Value, 0)
	return nil
}

func appendNested(r *expr.Registry, c *batch.Column, t types.Type, cells []any) error {
	for i, v := range cells {
		var err error
		switch t.Kind {
		case types.Array:
			err = appendCell(r, c.Children[0], *t.Elem, v)
		case types.Row:
			err = appendCell(r, c.Children[i], t.Fields[i].Type, v)
		default:
			pair, value := v.([]any), types.Of(types.Int)
			key := t.Elem
			if t.Kind == types.Map {
				key, value = t.Key, *t.Elem
			}
			if err = appendCell(r, c.Children[0], *key, pair[0]); err == nil {
				err = appendCell(r, c.Children[1], value, pair[1])
			}
		}
		if err != nil {
			return err
		}
	}
	if t.Kind == types.Row {
		c.EndRow()
	} else {
		c.EndCollection()
	}
	return nil
}

// cell writes a value as the recordings do.
func cell(t types.Type, c *batch.Column, i int) string {
	if c.IsNull(i) {
		return "null"
	}
	switch t.Kind {
	case types.Boolean, types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.Decimal:
		return strings.ToLower(expr.Display(t, c, i))
	case types.Float, types.Double:
		return float(expr.Display(t, c, i))
	case types.IntervalDayTime:
		return strconv.FormatInt(c.I64[i], 10)
	case types.IntervalYearMonth:
		return strconv.FormatInt(int64(c.I32[i]), 10)
	case types.Binary, types.VarBinary:
		return quoted(hex.EncodeToString(c.Bytes(i)))
	case types.TimestampLTZ:
		at := time.UnixMilli(c.I64[i]).Add(time.Duration(c.Nanos(i))).UTC()
		return quoted(at.Format(strings.TrimSuffix("2006-01-02 15:04:05."+strings.Repeat("0", t.Precision), ".") + "Z"))
	case types.Array:
		var parts []string
		for from, to := c.Span(i); from < to; from++ {
			parts = append(parts, cell(*t.Elem, c.Children[0], from))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case types.Map, types.Multiset:
		key, value := t.Elem, types.Of(types.Int)
		if t.Kind == types.Map {
			key, value = t.Key, *t.Elem
		}
		var parts []string
		for from, to := c.Span(i); from < to; from++ {
			parts = append(parts, "["+cell(*key, c.Children[0], from)+", "+cell(value, c.Children[1], from)+"]")
		}
		slices.Sort(parts)
		return "[" + strings.Join(parts, ", ") + "]"
	case types.Row:
		var parts []string
		for k, f := range t.Fields {
			parts = append(parts, cell(f.Type, c.Children[k], i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return quoted(expr.Display(t, c, i))
}

func float(text string) string {
	if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return text
	}
	return quoted(text)
}

func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}
