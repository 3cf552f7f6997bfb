package codec

import (
	"bytes"
	"reflect"
	"sync"
	"testing"
)

// TestByteOrder takes the paths of a big-endian machine, which are right on
// any machine, and wants the same bytes.
func TestByteOrder(t *testing.T) {
	type rec struct {
		A [3]uint16
		B [2]complex64
		C [2][2]bool
		D []int64
	}
	vals := []rec{{[3]uint16{1, 2, 3}, [2]complex64{4, 5i}, [2][2]bool{{true}}, []int64{6, 7}}, {D: []int64{-1}}}
	p := plan[rec](t)
	fast, err := p.Append(nil, vals)
	if err != nil {
		t.Fatal(err)
	}
	defer func(was bool) { littleEndian = was }(littleEndian)
	littleEndian = false
	slow, err := p.Append(nil, vals)
	if err != nil || !bytes.Equal(fast, slow) {
		t.Fatalf("scalar by scalar %x, %v, at once %x", slow, err, fast)
	}
	got, _, err := p.Decode(nil, 2, slow)
	if err != nil || got[0].A != vals[0].A || got[0].B != vals[0].B || got[0].C != vals[0].C || got[0].D[1] != 7 {
		t.Fatalf("got %+v, %v, want %+v", got, err, vals)
	}
}

// TestConcurrent uses one plan, with all that it borrows from pools, from many
// goroutines.
func TestConcurrent(t *testing.T) {
	vals := []order{sampleOrder(), {}, sampleOrder()}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			p, err := For[order]()
			if err != nil {
				t.Error(err)
				return
			}
			for range 50 {
				enc, err := p.Append(nil, vals)
				if err != nil {
					t.Error(err)
					return
				}
				got, _, err := p.Decode(nil, len(vals), enc)
				if err != nil || !reflect.DeepEqual(got, vals) {
					t.Errorf("got %+v, %v", got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}
