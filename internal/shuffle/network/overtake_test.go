package network

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
)

// crossing is what a barrier met on its way: what the consumer had read before it, and
// what it had overtaken on either side.
type crossing struct {
	read              int64
	inFlight, waiting []int64
}

func decodeAll(t *testing.T, all [][]byte) (vals []int64) {
	t.Helper()
	s := newNumbersSerializer()
	for _, b := range all {
		n, err := s.Decode(b)
		if err != nil {
			t.Error(err)
			continue
		}
		vals = append(vals, n.(*numbers).vals...)
		n.Release()
	}
	return vals
}

// TestBarriersOvertake: what was read before a barrier, what it overtook at the reader
// and what it overtook at the writer are together, in this order, all that was written
// before it; nothing is lost or doubled for the reader, who gets the barrier from a
// channel it has blocked too, and all buffers come back.
func TestBarriersOvertake(t *testing.T) {
	seed := rand.Uint64()
	for i := range 30 {
		for _, remote := range []bool{false, true} {
			t.Run(fmt.Sprintf("seed %d-%d remote %t", seed, i, remote), func(t *testing.T) { overtake(t, rand.New(rand.NewPCG(seed, uint64(i))), remote) })
		}
	}
}

func overtake(t *testing.T, r *rand.Rand, remote bool) {
	sized := func(o *Options) { o.BufferSize = LeastBufferSize << (3 * r.IntN(2)) }
	hosts := []*host{newHost(t, "unix", "a", sized), newHost(t, "unix", "b", sized)}
	at := hosts[0]
	if remote {
		at = hosts[1]
	}
	p := hosts[0].CreatePartition(partitionID(1), 1, newNumbersSerializer, nil)
	p.Spare(-1)
	blocked := r.IntN(2) == 0
	large := !blocked // the rest of a batch of several frames goes before a barrier, if it is read
	const barriers, batches = 4, 60
	written := make([]int64, barriers) // before each barrier
	crossings := make([]crossing, barriers)
	var wg sync.WaitGroup
	wg.Go(func() {
		next := int64(0)
		for n := range barriers {
			for range r.IntN(batches) {
				b := newNumbers(r.IntN(100))
				if large && r.IntN(8) == 0 {
					b.padding = r.IntN(90_000)
				}
				for range 1 + r.IntN(5) {
					b.vals = append(b.vals, next)
					next++
				}
				if err := p.Emit(0, b); err != nil {
					t.Error(err)
					return
				}
				if r.IntN(6) == 0 {
					_ = p.Control(element.Element{Kind: element.Watermark, Time: next})
				}
			}
			e := element.Element{Kind: element.Barrier, Align: element.Unaligned, Checkpoint: int64(n), Options: []byte("how")}
			wait := func() ([][][]byte, error) { return p.Overtake(e) }
			if r.IntN(2) == 0 {
				var err error
				e.Align, e.Time = element.Timed, time.Now().UnixMilli()+r.Int64N(4)
				if wait, err = p.Promise(e); err != nil {
					t.Error(err)
					return
				}
			}
			all, err := wait()
			if err != nil {
				t.Error(err)
				return
			}
			written[n], crossings[n].waiting = next, decodeAll(t, all[0])
		}
		if err := p.Finish(); err != nil {
			t.Error(err)
		}
	})
	reader := newReader(t, at.Environment, Channel{Partition: partitionID(1), Resource: ident.ResourceID("a"), Addresses: []string{hosts[0].addr}})
	defer reader.Close()
	if blocked {
		reader.Block(0)
	}
	next := int64(0)
	for {
		_, e, err := reader.next()
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case element.Data:
			for _, v := range e.Batch.(*numbers).vals {
				if v != next {
					t.Fatalf("read %d, want %d", v, next)
				}
				next++
			}
			e.Batch.Release()
		case element.Barrier:
			c := &crossings[e.Checkpoint]
			c.read, c.inFlight = next, nil
			if e.Align == element.Unaligned {
				c.inFlight = decodeAll(t, reader.Overtaken(0))
			}
			if blocked && next > 0 && e.Checkpoint == 0 || string(e.Options) != "how" {
				t.Errorf("a blocked channel gave %d numbers; options %q", next, e.Options)
			}
			if blocked {
				reader.Unblock(0)
				blocked = false
			}
		}
		if e.Kind == element.EndOfPartition {
			break
		}
	}
	wg.Wait()
	for n, c := range crossings {
		want := c.read
		for _, v := range append(c.inFlight, c.waiting...) {
			if v != want {
				t.Fatalf("barrier %d: %d were read, then %v and %v overtaken of %d", n, c.read, c.inFlight, c.waiting, written[n])
			}
			want++
		}
		if want != written[n] {
			t.Errorf("barrier %d: %d were read and %d overtaken, and %d written", n, c.read, want-c.read, written[n])
		}
	}
	checkAllReleased(t)
}
