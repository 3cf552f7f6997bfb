package network

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle/handshake"
	"github.com/weirstream/weir/internal/shuffle/local"
)

// produce writes batches of random sizes with control elements in between to
// random consumers: the n-th number for a consumer is n.
func produce(p *local.Partition, r *rand.Rand, batches int) error {
	next := make([]int64, p.Subpartitions())
	var marks int64
	for range batches {
		sub := r.IntN(p.Subpartitions())
		b := newNumbers(0)
		switch r.IntN(20) {
		case 0:
			b.padding = r.IntN(5 * DefaultBufferSize)
		case 1:
			b.padding = maxPayload - 64 + r.IntN(128)
		default:
			b.padding = r.IntN(2000)
		}
		for range 1 + r.IntN(5) {
			b.vals = append(b.vals, next[sub])
			next[sub]++
		}
		if err := p.Emit(sub, b); err != nil {
			return err
		}
		if r.IntN(4) == 0 {
			marks++
			e := element.Element{Kind: element.Watermark, Time: marks}
			switch r.IntN(3) {
			case 0:
				e = element.Element{Kind: element.Barrier, Checkpoint: marks, Align: element.Align(marks % 2), Options: optionsOf(marks)}
			case 1:
				e = element.Element{Kind: element.Status, Idle: true, Time: marks}
			}
			if err := p.Control(e); err != nil {
				return err
			}
		}
	}
	return p.Finish()
}

// optionsOf are those of the n-th barrier: now and then too long for one small frame.
func optionsOf(n int64) []byte {
	size := n % 40
	if size%10 == 9 {
		size *= maxOptions / 40
	}
	return bytes.Repeat([]byte{byte(n)}, int(size))
}

// consume reads until all channels have ended; every number and control
// element must come exactly once and in order.
func consume(r *reader) (total int64, err error) {
	next, marks := make([]int64, r.Channels()), make([]int64, r.Channels())
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
		case element.EndOfPartition:
			open--
		default:
			if marks[ch]++; e.Time+e.Checkpoint != marks[ch] {
				return total, fmt.Errorf("channel %d: control element %+v, want number %d", ch, e, marks[ch])
			}
			if n := marks[ch]; e.Kind == element.Barrier && (e.Align != element.Align(n%2) || !bytes.Equal(e.Options, optionsOf(n))) {
				return total, fmt.Errorf("channel %d: barrier %+v is not as it was sent", ch, e)
			}
		}
	}
	return total, nil
}

// TestManyToMany runs producers and consumers on two hosts, each reading from
// all: half of the channels are within a process and half are not. Their buffers
// have different sizes.
func TestManyToMany(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, network := range []string{"unix", "tcp"} {
		for _, n := range []int{1, 2, 8} {
			for _, tiny := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%dx%d/tiny=%t", network, n, n, tiny), func(t *testing.T) {
					manyToMany(t, network, n, tiny, seed)
				})
			}
		}
	}
}

func manyToMany(t *testing.T, network string, n int, tiny bool, seed uint64) {
	var hosts [2]*host
	sizes := []int{LeastBufferSize, LeastBufferSize, 2 * LeastBufferSize, DefaultBufferSize}
	rand.New(rand.NewPCG(seed, 99)).Shuffle(len(sizes), func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	for i := range hosts {
		hosts[i] = newHost(t, network, ident.ResourceID(fmt.Sprintf("tm-%d", i)), func(o *Options) {
			if o.BufferSize = sizes[i]; tiny {
				o.BuffersPerChannel, o.MaxBuffersPerChannel, o.QueueDepth, o.Buffers = 1, 1, 1, n*n/2+n+2*minFrames+2
			}
		})
	}
	var group sync.WaitGroup
	for c := range n {
		var channels []Channel
		for p := range n {
			channels = append(channels, hosts[p%2].channel(p, c))
		}
		r := newReader(t, hosts[(c+1)%2].Environment, channels...)
		group.Go(func() {
			if _, err := consume(r); err != nil {
				t.Error(err)
			}
			r.Close()
		})
	}
	for p := range n {
		partition := hosts[p%2].CreatePartition(partitionID(p), n, newNumbersSerializer, nil)
		group.Go(func() {
			if err := produce(partition, rand.New(rand.NewPCG(seed, uint64(p))), 200); err != nil {
				t.Error(err)
			}
			<-partition.Consumed()
		})
	}
	group.Wait()
	for _, h := range hosts {
		h.checkBuffersBack(t)
		if h.Partitions() != 0 {
			t.Errorf("%s: %d partitions left", h.id, h.Partitions())
		}
		if h.accepted() > 1 {
			t.Errorf("%s: %d connections from one peer", h.id, h.accepted())
		}
	}
	checkAllReleased(t)
}

// TestConnectionPassedOn goes the way of a cluster: the TaskManager's process
// reads the hello and passes the connection to the worker.
func TestConnectionPassedOn(t *testing.T) {
	from, to := newHost(t, "unix", "from", nil), newHost(t, "unix", "to", nil)
	dir := t.TempDir()
	listen := func(name string) *net.UnixListener {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, name)})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	control, data := listen("control"), listen("data")
	var group sync.WaitGroup
	group.Go(func() { // the TaskManager
		u, err := net.DialUnix("unix", nil, control.Addr().(*net.UnixAddr))
		if err != nil {
			t.Error(err)
			return
		}
		conn, err := data.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		hello, err := handshake.ReadHello(conn, time.Minute)
		if err != nil {
			t.Error(err)
		}
		if err := handshake.SendConn(u, conn, hello); err != nil {
			t.Error(err)
		}
		_ = u.Close()
	})
	group.Go(func() { // the worker
		u, err := control.AcceptUnix()
		if err != nil {
			t.Error(err)
			return
		}
		conn, hello, err := handshake.ReceiveConn(u)
		if err != nil {
			t.Error(err)
			return
		}
		from.Serve(conn, hello)
		_ = u.Close()
	})
	c := from.channel(0, 0)
	c.Addresses = []string{"127.0.0.1:1", "unix:" + data.Addr().String()}
	r := newReader(t, to.Environment, c)
	p := from.CreatePartition(partitionID(0), 1, newNumbersSerializer, nil)
	if err := p.Emit(0, newNumbers(50_000, 7)); err != nil {
		t.Fatal(err)
	}
	_ = p.Finish()
	if got := drain(t, r)[0]; len(got) != 1 || got[0] != 7 {
		t.Errorf("got %v", got)
	}
	r.Close()
	<-p.Consumed()
	group.Wait()
	_, _ = control.Close(), data.Close()
}
