package network

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/shuffle"
)

// drain reads all of a gate and gives the numbers of each channel.
func drain(t *testing.T, r *reader) [][]int64 {
	t.Helper()
	got := make([][]int64, r.Channels())
	for open := r.Channels(); open > 0; {
		ch, e, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case element.Data:
			got[ch] = append(got[ch], e.Batch.(*numbers).vals...)
			e.Batch.Release()
		case element.EndOfPartition:
			open--
		}
	}
	return got
}

func TestHugeBatchNeedsNoMoreCreditThanThereIs(t *testing.T) {
	one := func(o *Options) { o.BuffersPerChannel, o.MaxBuffersPerChannel = 1, 1 }
	from, to := newHost(t, "unix", "from", nil), newHost(t, "unix", "to", one)
	p := from.CreatePartition(partitionID(0), 1, newNumbersSerializer, nil)
	for i, size := range []int{3 << 20, 0, maxPayload - 12, maxPayload - 11, 2*maxPayload - 12} {
		if err := p.Emit(0, newNumbers(size, int64(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	r := newReader(t, to.Environment, from.channel(0, 0))
	if got := drain(t, r)[0]; len(got) != 5 {
		t.Errorf("got %v", got)
	}
	if in, out := r.Metrics(), p.Metrics(); in.Bytes != out.Bytes || in.Batches != 5 || in.Records != 5 || out.Records != 5 {
		t.Errorf("counted in %+v, out %+v", in, out)
	}
	r.Close()
	<-p.Consumed()
	to.checkBuffersBack(t)
	checkAllReleased(t)
}

// TestConsumerThatDoesNotReadStopsItsProducer lets the producer run against a
// gate that is never polled: what it wrote is in its queue and in the consumer's
// buffers, and nowhere else. Another channel of the connection goes on.
func TestConsumerThatDoesNotReadStopsItsProducer(t *testing.T) {
	from, to := newHost(t, "tcp", "from", nil), newHost(t, "tcp", "to", nil)
	const depth, most = 8, 10
	cancel := make(chan struct{})
	stuck := from.CreatePartition(partitionID(0), 1, newNumbersSerializer, cancel)
	idle := newReader(t, to.Environment, from.channel(0, 0))
	var emitted atomic.Int64
	done := make(chan error)
	go func() {
		for {
			if err := stuck.Emit(0, newNumbers(20_000, emitted.Load())); err != nil {
				done <- err
				return
			}
			if emitted.Add(1) > depth+most {
				t.Errorf("%d batches emitted against depth %d and %d credits", emitted.Load(), depth, most)
			}
		}
	}()
	other := from.CreatePartition(partitionID(1), 1, newNumbersSerializer, nil)
	r := newReader(t, to.Environment, from.channel(1, 0))
	go func() {
		for i := range int64(500) {
			if err := other.Emit(0, newNumbers(20_000, i)); err != nil {
				t.Error(err)
			}
		}
		_ = other.Finish()
	}()
	if got := drain(t, r)[0]; len(got) != 500 {
		t.Errorf("%d numbers arrived beside a channel that is not read", len(got))
	}
	r.Close()
	// In the end the channel's own credit is used, and more than half of the
	// queue; whether more was lent depends on the backlog first seen.
	for emitted.Load() <= depth/2+2 {
		runtime.Gosched()
	}
	for stuck.Metrics().Blocked == 0 {
		runtime.Gosched()
	}
	close(cancel)
	if err := <-done; !errors.Is(err, shuffle.ErrCanceled) {
		t.Errorf("canceled Emit: %v", err)
	}
	stuck.Fail(shuffle.ErrCanceled)
	wantError(t, readUntilError(idle), shuffle.ErrProducerFailed, "task canceled", from.addr)
	idle.Close()
	<-stuck.Consumed()
	from.checkBuffersBack(t)
	to.checkBuffersBack(t)
	checkAllReleased(t)
}

func TestConsumerComesAfterTheProducerIsDone(t *testing.T) {
	from, to := newHost(t, "unix", "from", nil), newHost(t, "unix", "to", nil)
	p := from.CreatePartition(partitionID(0), 2, newNumbersSerializer, nil)
	for i := range int64(12) {
		if err := p.Emit(int(i%2), newNumbers(0, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Finish(); err != nil {
		t.Fatal(err)
	}
	for sub := range 2 {
		if from.Partitions() != 1 {
			t.Errorf("partition forgotten before consumer %d came", sub)
		}
		r := newReader(t, to.Environment, from.channel(0, sub))
		if got := drain(t, r)[0]; len(got) != 6 {
			t.Errorf("consumer %d got %v", sub, got)
		}
		r.Close()
	}
	<-p.Consumed()
	checkAllReleased(t)
}

// TestChannelsComeAndGo closes gates in the middle of streams, while others of
// the same connection go on.
func TestChannelsComeAndGo(t *testing.T) {
	from, to := newHost(t, "unix", "from", nil), newHost(t, "unix", "to", nil)
	stay := from.CreatePartition(partitionID(0), 1, newNumbersSerializer, nil)
	r := newReader(t, to.Environment, from.channel(0, 0))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range int64(2000) {
			if err := stay.Emit(0, newNumbers(100, i)); err != nil {
				t.Error(err)
			}
		}
		_ = stay.Finish()
	}()
	for i := 1; i <= 30; i++ {
		p := from.CreatePartition(partitionID(i), 1, newNumbersSerializer, nil)
		g := newReader(t, to.Environment, from.channel(i, 0))
		go func() {
			for range 100 {
				if err := p.Emit(0, newNumbers(40_000, 1)); err != nil {
					t.Error(err)
				}
			}
			_ = p.Finish()
		}()
		for range i {
			if _, e, err := g.next(); err != nil {
				t.Fatal(err)
			} else if e.Batch != nil {
				e.Batch.Release()
			}
		}
		g.Close()
		<-p.Consumed()
	}
	got := drain(t, r)[0]
	for i, v := range got {
		if v != int64(i) {
			t.Fatalf("number %d is %d", i, v)
		}
	}
	if len(got) != 2000 {
		t.Errorf("got %d numbers", len(got))
	}
	r.Close()
	<-done
	<-stay.Consumed()
	if from.accepted() != 1 {
		t.Errorf("%d connections", from.accepted())
	}
	to.checkBuffersBack(t)
	from.checkBuffersBack(t)
	// What was written to gates that had closed was released by its producer.
	for deadline := time.Now().Add(time.Minute); live.Load() != 0 && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	checkAllReleased(t)
}

func TestTooFewBuffers(t *testing.T) {
	from := newHost(t, "unix", "from", nil)
	to := newHost(t, "unix", "to", func(o *Options) { o.Buffers = 5 })
	_, err := to.CreateGate([]Channel{from.channel(0, 0), from.channel(0, 1), from.channel(0, 2)}, newNumbersSerializer, func() {}, nil)
	wantError(t, err, shuffle.ErrInsufficientBuffers, "Insufficient number of network buffers: required 6, but only 5 available. "+
		"The total number of network buffers is currently set to 5 of 32768 bytes each. You can increase this number by setting the configuration keys "+
		"'taskmanager.memory.network.fraction', 'taskmanager.memory.network.min', and 'taskmanager.memory.network.max'")
	g, err := to.CreateGate([]Channel{from.channel(0, 0), from.channel(0, 1)}, newNumbersSerializer, func() {}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if total, reserved := to.Buffers(); total != 5 || reserved != 5 {
		t.Errorf("%d of %d buffers set aside", reserved, total)
	}
	g.Close()
	to.checkBuffersBack(t)

	// A producer that cannot even write refuses the connection.
	poor := newHost(t, "unix", "poor", func(o *Options) { o.Buffers = 1 })
	r := newReader(t, from.Environment, poor.channel(0, 0))
	_, _, err = r.next()
	wantError(t, err, shuffle.ErrPeerLost, "Insufficient number of network buffers: required 2, but only 1 available. The total number of network buffers is currently set to 1 of 32768 bytes each")
	r.Close()
}

// A pool that becomes smaller keeps what is set aside until it comes back, and
// nothing of what is beyond.
func TestPoolIsResized(t *testing.T) {
	p := &pool{size: DefaultBufferSize, total: 8}
	if err := p.reserve(6, "test"); err != nil {
		t.Fatal(err)
	}
	var taken []buffer
	for range 6 {
		taken = append(taken, p.take())
	}
	p.put(taken[5])
	if held := p.resize(4, ", for 1 of the 2 slots of the TaskManager, which has 8"); held != 6 || !p.scarce() || len(p.free) != 0 {
		t.Errorf("%d held, scarce %v, %d free", held, p.scarce(), len(p.free))
	}
	if n := p.borrow(1); n != 0 {
		t.Errorf("%d were lent of a pool that has too few", n)
	}
	err := p.reserve(1, "create gate")
	wantError(t, err, shuffle.ErrInsufficientBuffers, "required 1, but only 0 available. The total number of network buffers is currently set to 4 of 32768 bytes each, "+
		"for 1 of the 2 slots of the TaskManager, which has 8. You can increase")
	for _, b := range taken[:5] {
		p.put(b)
	}
	p.release(4)
	if p.scarce() || len(p.free) > 4 {
		t.Errorf("scarce %v, %d free of 4", p.scarce(), len(p.free))
	}
	if held := p.resize(10, ""); held != 10 {
		t.Errorf("%d held of 10", held)
	}
	if err := p.reserve(8, "test"); err != nil {
		t.Error(err)
	}
}

func TestBorrowingLeavesAQuarter(t *testing.T) {
	p := &pool{total: 100}
	if n := p.borrow(90); n != 75 {
		t.Errorf("borrowed %d of 100, want 75", n)
	}
	if n := p.borrow(1); n != 0 {
		t.Errorf("borrowed %d more", n)
	}
	if err := p.reserve(25, "test"); err != nil {
		t.Error(err)
	}
	if err := p.reserve(1, "test"); !errors.Is(err, shuffle.ErrInsufficientBuffers) {
		t.Errorf("reserved the 101st buffer: %v", err)
	}
}
