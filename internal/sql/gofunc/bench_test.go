package gofunc

import (
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

type number64 int64

// BenchmarkCall is a call of a function for a row: of common types, of others by
// reflection, and of others directly.
func BenchmarkCall(b *testing.B) {
	bigint, text := types.Of(types.BigInt), types.String()
	numbers, words := batch.NewColumn(bigint), batch.NewColumn(text)
	for i := range int64(batch.MaxRows) {
		batch.Append(numbers, i)
		words.AppendBytes([]byte("a word"))
	}
	for _, c := range []struct {
		name string
		f    any
		t    types.Type
		arg  *batch.Column
	}{
		{"int64", func(n int64) int64 { return n + 1 }, bigint, numbers},
		{"string", func(s string) string { return strings.TrimPrefix(s, "a ") }, text, words},
		{"pointer", func(n *int64) *int64 { return n }, bigint, numbers},
		{"named/reflected", func(n number64) number64 { return n + 1 }, bigint, numbers},
		{"named/direct", Typed1(func(n number64) (number64, error) { return n + 1, nil }), bigint, numbers},
	} {
		b.Run(c.name, func(b *testing.B) {
			f, err := Scalar("f", c.f, Options{})
			if err != nil {
				b.Fatal(err)
			}
			call, err := expr.NewRegistry().CallFunction(expr.UTC, f, exprSpan, &expr.Input{T: c.t})
			if err != nil {
				b.Fatal(err)
			}
			p, err := expr.Compile(expr.UTC, call)
			if err != nil {
				b.Fatal(err)
			}
			in := &batch.Columns{N: batch.MaxRows, Cols: []*batch.Column{c.arg}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Eval(in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.MaxRows), "ns/row")
		})
	}
}
