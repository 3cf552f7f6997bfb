package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// live counts the batches that were made and not released.
var live atomic.Int64

// numbers is a batch of numbers that notices a second release.
type numbers struct {
	vals     []int64
	released atomic.Bool
}

func newNumbers(vals ...int64) *numbers {
	live.Add(1)
	return &numbers{vals: vals}
}

func (n *numbers) Len() int { return len(n.vals) }

func (n *numbers) Release() {
	if n.released.Swap(true) {
		panic("batch released twice")
	}
	live.Add(-1)
}

func newTestRegistry(depth int) *Registry {
	return NewRegistry(Settings{Depth: depth, FrameBytes: 32 << 10, Wait: time.Minute})
}

func partitionID(n int) ident.PartitionID {
	return ident.PartitionID{Producer: ident.AttemptID{Subtask: n}}
}

// reader is a gate with the goroutine's side of the wake protocol.
type reader struct {
	*Gate
	woken chan struct{}
}

func newReader(channels int) *reader {
	r := &reader{woken: make(chan struct{}, 1)}
	r.Gate = NewGate(channels, func() {
		select {
		case r.woken <- struct{}{}:
		default:
		}
	}, nil)
	return r
}

// next waits for the next element.
func (r *reader) next() (int, element.Element, error) {
	for {
		ch, e, ok, err := r.Poll()
		if ok || err != nil {
			return ch, e, err
		}
		<-r.woken
	}
}

// checkAllReleased fails the test if a batch is left.
func checkAllReleased(t *testing.T) {
	t.Helper()
	if n := live.Load(); n != 0 {
		t.Errorf("%d batches were not released", n)
		live.Store(0)
	}
}

// produce writes count numbers, in batches of random sizes with watermarks in
// between, to random consumers: number i of consumer c is i.
func produce(p *Partition, r *rand.Rand, count int) error {
	next := make([]int64, p.Subpartitions())
	for range count {
		sub := r.IntN(p.Subpartitions())
		b := newNumbers()
		for range 1 + r.IntN(5) {
			b.vals = append(b.vals, next[sub])
			next[sub]++
		}
		if err := p.Emit(sub, b); err != nil {
			return err
		}
		if r.IntN(4) == 0 {
			if err := p.Control(element.Element{Kind: element.Watermark, Time: next[0]}); err != nil {
				return err
			}
		}
	}
	return p.Finish()
}

// consume reads until all channels have ended and checks the order.
func consume(r *reader, depth int) (total int64, err error) {
	next, mark := make([]int64, r.Channels()), make([]int64, r.Channels())
	for open := r.Channels(); open > 0; {
		ch, e, err := r.next()
		if err != nil {
			return total, err
		}
		switch e.Kind {
		case element.Data:
			for _, v := range e.Batch.(*numbers).vals {
				if v != next[ch] {
					return total, fmt.Errorf("channel %d: got %d, want %d", ch, v, next[ch])
				}
				next[ch]++
				total++
			}
			e.Batch.Release()
		case element.Watermark:
			if e.Time < mark[ch] {
				return total, fmt.Errorf("channel %d: watermark %d after %d", ch, e.Time, mark[ch])
			}
			mark[ch] = e.Time
		case element.EndOfPartition:
			open--
		}
	}
	return total, nil
}

func TestManyToManyKeepsOrderAndLosesNothing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, depth := range []int{1, 2, 8} {
		for _, n := range []int{1, 3, 8} {
			registry := newTestRegistry(depth)
			var group sync.WaitGroup
			readers := make([]*reader, n)
			for c := range n {
				readers[c] = newReader(n)
				for p := range n {
					readers[c].Connect(p, registry, partitionID(p), shuffle.One(c))
				}
				group.Go(func() {
					if _, err := consume(readers[c], depth); err != nil {
						t.Error(err)
					}
					readers[c].Close()
				})
			}
			for p := range n {
				partition := registry.Create(partitionID(p), n, nil, nil)
				group.Go(func() {
					if err := produce(partition, rand.New(rand.NewPCG(seed, uint64(p))), 500); err != nil {
						t.Error(err)
					}
					<-partition.Consumed()
				})
			}
			group.Wait()
			checkAllReleased(t)
			if registry.Len() != 0 {
				t.Errorf("%d partitions left after all were consumed", registry.Len())
			}
			registry.Close()
		}
	}
}

func TestEmitBlocksAtDepthAndGoesOnAtHalf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newTestRegistry(4)
		p := registry.Create(partitionID(0), 1, nil, nil)
		emitted := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 8 {
				if err := p.Emit(0, newNumbers(1)); err != nil {
					t.Error(err)
				}
				emitted++
			}
		}()
		synctest.Wait()
		if emitted != 4 {
			t.Fatalf("emitted %d batches into a queue of depth 4", emitted)
		}
		time.Sleep(3 * time.Second)
		if blocked := p.Metrics().Blocked; blocked != 3*time.Second {
			t.Errorf("blocked for %s while waiting since 3s", blocked)
		}
		r := newReader(1)
		r.Connect(0, registry, partitionID(0), shuffle.One(0))
		for _, want := range []int{4, 6, 6, 8} {
			_, e, err := r.next()
			if err != nil {
				t.Fatal(err)
			}
			e.Batch.Release()
			synctest.Wait()
			if emitted != want {
				t.Errorf("emitted %d batches, want %d", emitted, want)
			}
		}
		<-done
		r.Close()
		<-p.Consumed()
		checkAllReleased(t)
	})
}

func TestWidePartitionHoldsTwoBatchesAConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newTestRegistry(8)
		cancel := make(chan struct{})
		p := registry.Create(partitionID(0), 100, nil, cancel)
		emitted := 0
		done := make(chan error)
		go func() {
			for {
				if err := p.Emit(emitted%100, newNumbers(1)); err != nil {
					done <- err
					return
				}
				emitted++
			}
		}()
		synctest.Wait()
		if emitted != 208 {
			t.Errorf("%d batches held for 100 consumers, want 208", emitted)
		}
		close(cancel)
		if err := <-done; !errors.Is(err, shuffle.ErrCanceled) {
			t.Errorf("canceled Emit: %v", err)
		}
		registry.Release(p.ID())
		<-p.Consumed()
		checkAllReleased(t)
	})
}

func TestRequestOfPartitionThatNeverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newTestRegistry(4)
		r := newReader(2)
		r.Connect(0, registry, partitionID(0), shuffle.One(0))
		r.Connect(1, registry, partitionID(1), shuffle.One(5))
		start := time.Now()
		if _, _, err := r.next(); !errors.Is(err, shuffle.ErrPartitionNotFound) {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("waited %s, want 1m", waited)
		}
		r.Close()
		q := newReader(1)
		registry.Create(partitionID(1), 2, nil, nil)
		q.Connect(0, registry, partitionID(1), shuffle.One(5))
		if _, _, err := q.next(); !errors.Is(err, shuffle.ErrPartitionNotFound) {
			t.Errorf("subpartition out of range: %v", err)
		}
		q.Close()
		registry.Close()
	})
}

func TestFailuresReachTheOtherSide(t *testing.T) {
	registry := newTestRegistry(4)
	p := registry.Create(partitionID(0), 2, nil, nil)
	early := newReader(1)
	early.Connect(0, registry, p.ID(), shuffle.One(0))
	if err := p.Emit(0, newNumbers(1)); err != nil {
		t.Fatal(err)
	}
	cause := errors.New("disk on fire")
	p.Fail(cause)
	late := newReader(1)
	late.Connect(0, registry, p.ID(), shuffle.One(1))
	for _, r := range []*reader{early, late} {
		if _, _, err := r.next(); !errors.Is(err, shuffle.ErrProducerFailed) || !errors.Is(err, cause) {
			t.Errorf("consumer of a failed producer got %v", err)
		}
		r.Close()
	}
	<-p.Consumed()

	q := registry.Create(partitionID(1), 1, nil, nil)
	again := registry.Create(partitionID(1), 1, nil, nil)
	if err := again.Emit(0, newNumbers(1)); err == nil {
		t.Error("two partitions of one identifier")
	}
	q.queues[0].Break(shuffle.ErrPeerLost)
	if err := q.Emit(0, newNumbers(1)); !errors.Is(err, shuffle.ErrPeerLost) {
		t.Errorf("emit to a lost consumer: %v", err)
	}
	registry.Close()
	checkAllReleased(t)
}

func TestConsumerThatGivesUpGetsNothingMore(t *testing.T) {
	registry := newTestRegistry(1)
	p := registry.Create(partitionID(0), 1, nil, nil)
	r := newReader(1)
	r.Connect(0, registry, p.ID(), shuffle.One(0))
	if err := p.Emit(0, newNumbers(1)); err != nil {
		t.Fatal(err)
	}
	second := newReader(1)
	second.Connect(0, registry, p.ID(), shuffle.One(0))
	if _, _, err := second.next(); err == nil {
		t.Error("a second consumer was let in")
	}
	second.Close()
	r.Close()
	for range 3 {
		if err := p.Emit(0, newNumbers(1)); err != nil {
			t.Fatal(err)
		}
	}
	checkAllReleased(t)
	registry.Close()
}

func TestPartitionWithoutConsumers(t *testing.T) {
	registry := newTestRegistry(1)
	p := registry.Create(partitionID(0), 0, nil, nil)
	if err := p.Finish(); err != nil {
		t.Error(err)
	}
	<-p.Consumed()
	if registry.Len() != 0 {
		t.Error("it is kept, for nobody")
	}
	registry.Close()
}

// The registry has forgotten a partition when its end is told.
func TestWhatIsConsumedIsForgottenFirst(t *testing.T) {
	told := 0
	var p *Partition
	p = newPartition(partitionID(0), 1, Settings{Depth: 1}, nil, nil, func(*Partition) {
		told++
		select {
		case <-p.Consumed():
			t.Error("its end was told before")
		default:
		}
	})
	p.queues[0].Detach()
	if <-p.Consumed(); told != 1 {
		t.Errorf("told %d times", told)
	}
}

func TestGateTakesTurnsAndBlocks(t *testing.T) {
	registry := newTestRegistry(8)
	r := newReader(3)
	var partitions []*Partition
	for i := range 3 {
		partitions = append(partitions, registry.Create(partitionID(i), 1, nil, nil))
		r.Connect(i, registry, partitionID(i), shuffle.One(0))
	}
	for _, p := range partitions {
		for range 3 {
			if err := p.Emit(0, newNumbers(1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	take := func(n int) (order []int) {
		for range n {
			ch, e, ok, err := r.Poll()
			if err != nil || !ok {
				t.Fatalf("poll: %v %v", ok, err)
			}
			e.Batch.Release()
			order = append(order, ch)
		}
		return order
	}
	got := fmt.Sprint(take(4))
	r.Block(1)
	got += fmt.Sprint(take(3))
	if _, _, ok, _ := r.Poll(); ok {
		t.Error("took from a blocked channel")
	}
	r.Unblock(1)
	got += fmt.Sprint(take(2))
	if want := "[0 1 2 0][2 0 2][1 1]"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	r.Close()
	registry.Close()
	checkAllReleased(t)
}

func TestManyWatermarksTakeNoMemory(t *testing.T) {
	registry := newTestRegistry(8)
	p := registry.Create(partitionID(0), 1, nil, nil)
	for i := range int64(10 * maxControls) {
		if err := p.Control(element.Element{Kind: element.Watermark, Time: i}); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.queues[0].items.Len(); n != maxControls {
		t.Errorf("%d control elements held, want %d", n, maxControls)
	}
	if last := p.queues[0].items.Last().Time; last != 10*maxControls-1 {
		t.Errorf("last watermark %d", last)
	}
	registry.Close()
}

func TestRowsFollowTheSizeOfRecords(t *testing.T) {
	registry := newTestRegistry(8)
	p := registry.Create(partitionID(0), 1, nil, nil)
	for _, test := range []struct{ bytes, min, max int }{{0, 1024, 1024}, {10, 1024, 1024}, {64, 450, 512}, {1 << 20, 1, 1}} {
		for range 100 {
			p.Encoded(1, test.bytes)
		}
		if rows := p.Rows(); rows < test.min || rows > test.max {
			t.Errorf("records of %d bytes: %d rows, want %d to %d", test.bytes, rows, test.min, test.max)
		}
	}
	registry.Close()
}

// record is 40 bytes, as the measured records of the design.
type record [5]int64

func BenchmarkHandOff(b *testing.B) {
	for _, n := range []int{1, 4} {
		b.Run(fmt.Sprintf("producers=%d", n), func(b *testing.B) {
			registry := newTestRegistry(8)
			r := newReader(n)
			for i := range n {
				r.Connect(i, registry, partitionID(i), shuffle.One(0))
				p, pool := registry.Create(partitionID(i), 1, nil, nil), batch.NewPool[record](16, batch.MaxRows, true)
				go func() {
					for left := b.N / n; left > 0; {
						rows := pool.Get()
						for range min(left, batch.MaxRows) {
							rows.Vals = append(rows.Vals, record{0: int64(left)})
						}
						left -= rows.Len()
						_ = p.Emit(0, rows)
					}
					_ = p.Finish()
				}()
			}
			b.ResetTimer()
			sum := int64(0)
			for open := n; open > 0; {
				_, e, err := r.next()
				if err != nil {
					b.Fatal(err)
				}
				switch e.Kind {
				case element.Data:
					for i := range e.Batch.(*batch.Rows[record]).Vals {
						sum += e.Batch.(*batch.Rows[record]).Vals[i][0]
					}
					e.Batch.Release()
				case element.EndOfPartition:
					open--
				}
			}
			_ = sum
			r.Close()
		})
	}
}
