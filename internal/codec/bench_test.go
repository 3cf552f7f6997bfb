package codec

import (
	"fmt"
	"testing"
)

type benchRow struct {
	Key  string
	N, V int64
}

type benchNested struct {
	ID    int64
	User  struct{ Name, City string }
	Place struct{ X, Y float64 }
	Tags  []string
	Note  *int32
}

func benchRows(n int) []benchRow {
	vals := make([]benchRow, n)
	for i := range vals {
		vals[i] = benchRow{fmt.Sprintf("user-%06d", i), int64(i), int64(-i)}
	}
	return vals
}

func benchNesteds(n int) []benchNested {
	vals := make([]benchNested, n)
	for i := range vals {
		v := &vals[i]
		v.ID = int64(i)
		v.User.Name, v.User.City = fmt.Sprintf("user-%06d", i), "Lübeck"
		v.Place.X, v.Place.Y = float64(i), float64(-i)
		v.Tags = []string{"red", "green"}
		if i%2 == 0 {
			v.Note = new(int32)
		}
	}
	return vals
}

func benchInts(n int) []int64 {
	vals := make([]int64, n)
	for i := range vals {
		vals[i] = int64(i)
	}
	return vals
}

func benchStrings(n int) []string {
	vals := make([]string, n)
	for i := range vals {
		vals[i] = fmt.Sprintf("user-%06d", i)
	}
	return vals
}

func benchEncode[T any](b *testing.B, make func(int) []T) {
	for _, n := range []int{64, 1024} {
		b.Run(fmt.Sprint("batch=", n), func(b *testing.B) {
			p, err := For[T]()
			if err != nil {
				b.Fatal(err)
			}
			vals := make(n)
			var buf []byte
			b.ReportAllocs()
			for b.Loop() {
				if buf, err = p.Append(buf[:0], vals); err != nil {
					b.Fatal(err)
				}
			}
			report(b, n, len(buf))
		})
	}
}

func benchDecode[T any](b *testing.B, make func(int) []T) {
	for _, n := range []int{64, 1024} {
		b.Run(fmt.Sprint("batch=", n), func(b *testing.B) {
			p, err := For[T]()
			if err != nil {
				b.Fatal(err)
			}
			buf, err := p.Append(nil, make(n))
			if err != nil {
				b.Fatal(err)
			}
			var vals []T
			b.ReportAllocs()
			for b.Loop() {
				if vals, _, err = p.Decode(vals[:0], n, buf); err != nil {
					b.Fatal(err)
				}
			}
			report(b, n, len(buf))
		})
	}
}

func report(b *testing.B, n, bytes int) {
	b.SetBytes(int64(bytes))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/record")
	b.ReportMetric(float64(bytes)/float64(n), "B/record")
}

func BenchmarkEncode(b *testing.B) {
	b.Run("string+int64+int64", func(b *testing.B) { benchEncode(b, benchRows) })
	b.Run("int64", func(b *testing.B) { benchEncode(b, benchInts) })
	b.Run("string", func(b *testing.B) { benchEncode(b, benchStrings) })
	b.Run("nested", func(b *testing.B) { benchEncode(b, benchNesteds) })
}

func BenchmarkDecode(b *testing.B) {
	b.Run("string+int64+int64", func(b *testing.B) { benchDecode(b, benchRows) })
	b.Run("int64", func(b *testing.B) { benchDecode(b, benchInts) })
	b.Run("string", func(b *testing.B) { benchDecode(b, benchStrings) })
	b.Run("nested", func(b *testing.B) { benchDecode(b, benchNesteds) })
}

func BenchmarkAppendKey(b *testing.B) {
	p, err := For[benchRow]()
	if err != nil {
		b.Fatal(err)
	}
	vals := benchRows(1024)
	v, buf := new(benchRow), []byte(nil)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		*v = vals[i%len(vals)]
		buf = p.AppendKey(buf[:0], v)
	}
}
