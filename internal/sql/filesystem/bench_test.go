package filesystem

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// benchmarkColumns reads a text of ten columns of eight types into columns, all of them or
// the first three.
func benchmarkColumns(b *testing.B, f formats, record func(i int) string) {
	columns := []types.Field{{Name: "id", Type: types.Of(types.BigInt)}, {Name: "amount", Type: types.DecimalOf(12, 2)}, {Name: "day", Type: types.Of(types.Date)},
		{Name: "quantity", Type: types.Of(types.Int)}, {Name: "rate", Type: types.Of(types.Double)}, {Name: "at", Type: types.TimestampOf(3)},
		{Name: "flag", Type: types.Of(types.Boolean)}, {Name: "city", Type: types.String()}, {Name: "code", Type: types.VarCharOf(10)}, {Name: "comment", Type: types.String()}}
	var text strings.Builder
	for i := range 1000 {
		text.WriteString(record(i))
	}
	for _, wanted := range []int{3, len(columns)} {
		b.Run(fmt.Sprintf("columns=%d", wanted), func(b *testing.B) {
			s := &source{format: f, scan: &plan.Scan{Columns: columns}, session: expr.UTC, registry: expr.NewRegistry(), partitions: newPartitions(columns, nil)}
			places := make([]int, len(columns))
			var conversions []*conversion
			for i := range columns {
				places[i] = -1
				if i < wanted {
					c, err := s.conversion(columns[i])
					if err != nil {
						b.Fatal(err)
					}
					places[i], conversions = i, append(conversions, c)
				}
			}
			d, v := s.decoder(places), newValues(wanted, batch.MaxRows)
			bytes := []byte(text.String())
			b.SetBytes(int64(len(bytes)))
			for b.Loop() {
				if _, err := d.decode(v, bytes, true, len(bytes), batch.MaxRows); err != nil || v.rows != 1000 {
					b.Fatal(v.rows, err)
				}
				for i, c := range conversions {
					c.convert(v, v.of[i][:v.rows], func(_ int, why error) { b.Fatal(why) })
				}
			}
		})
	}
}

func BenchmarkCSV(b *testing.B) {
	benchmarkColumns(b, csvFormats(0), func(i int) string {
		return fmt.Sprintf("%d,%d.%02d,2024-02-%02d,%d,0.%03d,2024-02-01 10:%02d:00.123,true,Oslo,c%d,\"packages nod, furiously even %d\"\n", i*1000003, i*7, i%100, i%28+1, i%50, i%1000, i%60, i, i)
	})
}

func BenchmarkJSON(b *testing.B) {
	benchmarkColumns(b, jsonFormats, func(i int) string {
		return fmt.Sprintf(`{"id":%d,"amount":%d.%02d,"day":"2024-02-%02d","quantity":%d,"rate":0.%03d,"at":"2024-02-01 10:%02d:00.123","flag":true,"city":"Oslo","code":"c%d","comment":"packages nod furiously even %d"}`+"\n", i*1000003, i*7, i%100, i%28+1, i%50, i%1000, i%60, i, i)
	})
}
