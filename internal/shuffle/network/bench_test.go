package network

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/shuffle"
)

// block is a batch whose encoding is its bytes.
type block struct {
	bytes []byte
	pool  *sync.Pool
}

func (b *block) Len() int { return batch.MaxRows }
func (b *block) Release() { b.pool.Put(b) }

// passThrough copies bytes and nothing else.
type passThrough struct{ pool *sync.Pool }

func (p passThrough) Append(dst []byte, b batch.Batch) ([]byte, error) {
	return append(dst, b.(*block).bytes...), nil
}

func (p passThrough) Decode(src []byte) (batch.Batch, error) {
	b := p.pool.Get().(*block)
	b.bytes = append(b.bytes[:0], src...)
	return b, nil
}

// touch reads or writes every cache line.
func (b *block) touch() (sum byte) {
	for i := 0; i < len(b.bytes); i += 64 {
		b.bytes[i]++
		sum += b.bytes[i]
	}
	return sum
}

// processTime is what the process has used of its processors, in seconds.
func processTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// BenchmarkNetwork moves full frames from two producing to two consuming tasks.
// Both ends are in this process, so all costs count.
func BenchmarkNetwork(b *testing.B) {
	for _, network := range []string{"unix", "tcp"} {
		for _, channels := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("%s/channels=%d", network, channels), func(b *testing.B) { benchmarkNetwork(b, network, channels, maxPayload, nil) })
		}
	}
}

// BenchmarkSmallFrames is what a job of many channels and little data costs.
func BenchmarkSmallFrames(b *testing.B) {
	for _, network := range []string{"unix", "tcp"} {
		b.Run(network, func(b *testing.B) { benchmarkNetwork(b, network, 64, 1<<10, nil) })
	}
}

// BenchmarkSmallBuffers is what full frames of the least size cost.
func BenchmarkSmallBuffers(b *testing.B) {
	for _, network := range []string{"unix", "tcp"} {
		b.Run(network, func(b *testing.B) {
			benchmarkNetwork(b, network, 8, LeastBufferSize-headerSize, func(o *Options) { o.BufferSize = LeastBufferSize })
		})
	}
}

func benchmarkNetwork(b *testing.B, network string, channels, size int, change func(*Options)) {
	from, to := newHost(b, network, "from", change), newHost(b, network, "to", change)
	pool := &sync.Pool{}
	pool.New = func() any { return &block{bytes: make([]byte, size), pool: pool} }
	serializer := func() shuffle.Serializer { return passThrough{pool} }
	tasks := min(2, channels)
	each := channels / tasks // consumers of a producer

	var group sync.WaitGroup
	var arrived atomic.Int64
	gates, woken := make([]*Gate, tasks), make([]chan struct{}, tasks)
	for c := range tasks {
		var inputs []Channel
		for i := range each {
			inputs = append(inputs, from.channel(i%tasks, c*each/tasks+i/tasks))
		}
		woken[c] = make(chan struct{}, 1)
		g, err := to.CreateGate(inputs, serializer, func() {
			select {
			case woken[c] <- struct{}{}:
			default:
			}
		}, nil)
		if err != nil {
			b.Fatal(err)
		}
		gates[c] = g
	}
	b.SetBytes(int64(size))
	b.ResetTimer()
	before := processTime()
	for p := range tasks {
		partition := from.CreatePartition(partitionID(p), each, serializer, nil)
		group.Go(func() {
			for i := range b.N / tasks {
				blk := pool.Get().(*block)
				blk.touch()
				if err := partition.Emit(i%each, blk); err != nil {
					b.Error(err)
				}
			}
			_ = partition.Finish()
		})
	}
	for c, g := range gates {
		group.Go(func() {
			for open := g.Channels(); open > 0; {
				_, e, ok, err := g.Poll()
				switch {
				case err != nil:
					b.Error(err)
					return
				case !ok:
					<-woken[c]
				case e.Kind == element.EndOfPartition:
					open--
				case e.Kind == element.Data:
					e.Batch.(*block).touch()
					arrived.Add(int64(len(e.Batch.(*block).bytes)))
					e.Batch.Release()
				}
			}
			g.Close()
		})
	}
	group.Wait()
	if want := int64(b.N/tasks*tasks) * int64(size); arrived.Load() != want {
		b.Errorf("%d bytes arrived, want %d", arrived.Load(), want)
	}
	b.ReportMetric(float64(b.N)*float64(size)/1e6/(processTime()-before), "MB/cpu-s")
}
