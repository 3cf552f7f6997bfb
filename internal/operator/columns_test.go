package operator

import (
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/types"
)

// columnWriter keeps what is emitted.
type columnWriter struct {
	rows     int
	emitted  [][]*batch.Columns
	controls []element.Element
}

func (w *columnWriter) Subpartitions() int { return len(w.emitted) }
func (w *columnWriter) Rows() int          { return w.rows }
func (w *columnWriter) Emit(sub int, b batch.Batch) error {
	w.emitted[sub] = append(w.emitted[sub], b.(*batch.Columns))
	return nil
}
func (w *columnWriter) Control(e element.Element) error {
	w.controls = append(w.controls, e)
	return nil
}

// numbers is a batch of n rows from first on, of which every third does not count.
func numbers(first, n int) *batch.Columns {
	key, text := batch.NewColumn(types.Of(types.BigInt)), batch.NewColumn(types.String())
	b := &batch.Columns{N: n, Cols: []*batch.Column{key, text}, Sel: []int32{}}
	for i := range n {
		batch.Append(key, int64(first+i)%7)
		text.AppendBytes([]byte{byte(first + i)})
		if i%3 != 2 {
			b.Sel = append(b.Sel, int32(i))
		}
	}
	return b
}

func TestColumnTails(t *testing.T) {
	stream := NewColumnStream([]types.Type{types.Of(types.BigInt), types.String()})
	for _, p := range []streamgraph.Partitioner{streamgraph.Hash, streamgraph.Rebalance, streamgraph.Broadcast, streamgraph.Global} {
		w := &columnWriter{rows: 10, emitted: make([][]*batch.Columns, 3)}
		r := Output[*batch.Columns](stream.Tail((&host{}).context(), TailEdge{Partitioner: p, Route: ColumnKeys{0}, MaxParallelism: 128}, w))
		pushed := 0
		for first := 0; first < 200; first += 50 {
			b := numbers(first, 50)
			pushed += b.Len()
			r.Push(b, batch.NoTimestamp)
		}
		r.Finish()
		owner, seen := map[int64]int{}, 0
		for sub, all := range w.emitted {
			for _, b := range all {
				seen += b.N
				if b.N > 19 || b.Sel != nil || b.Cols[1].Len != b.N {
					t.Errorf("%s: a batch of %d rows, want less than two batches and no selection", p.Ship(), b.N)
				}
				for i := range b.N {
					if int64(b.Cols[1].Bytes(i)[0])%7 != b.Cols[0].I64[i] {
						t.Fatalf("%s: columns of different rows came together", p.Ship())
					}
					if o, known := owner[b.Cols[0].I64[i]]; p == streamgraph.Hash && known && o != sub {
						t.Fatalf("key %d is at %d and %d", b.Cols[0].I64[i], o, sub)
					}
					owner[b.Cols[0].I64[i]] = sub
				}
			}
		}
		want := pushed
		if p == streamgraph.Broadcast {
			want *= 3
		}
		if seen != want || len(w.controls) != 1 || w.controls[0].Kind != element.EndOfData {
			t.Errorf("%s: %d rows and %v arrived, want %d and the end", p.Ship(), seen, w.controls, want)
		}
	}
}
