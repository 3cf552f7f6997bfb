package network

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/handshake"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// live counts the batches that were made and not released.
var live atomic.Int64

// numbers is a batch of numbers with padding, that notices a second release.
type numbers struct {
	vals     []int64
	padding  int
	released atomic.Bool
}

func newNumbers(padding int, vals ...int64) *numbers {
	live.Add(1)
	return &numbers{vals: vals, padding: padding}
}

func (n *numbers) Len() int { return len(n.vals) }

func (n *numbers) Release() {
	if n.released.Swap(true) {
		panic("batch released twice")
	}
	live.Add(-1)
}

// numbersSerializer encodes numbers, and notices when two goroutines use it.
type numbersSerializer struct{ busy atomic.Bool }

func newNumbersSerializer() shuffle.Serializer { return &numbersSerializer{} }

var errPoison = errors.New("this batch cannot be encoded")

func (s *numbersSerializer) Append(dst []byte, b batch.Batch) ([]byte, error) {
	if s.busy.Swap(true) {
		panic("serializer used by two goroutines")
	}
	defer s.busy.Store(false)
	n := b.(*numbers)
	switch n.padding {
	case -1:
		return nil, errPoison
	case -2:
		panic("poison")
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(n.vals)))
	for _, v := range n.vals {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
	}
	for i := range n.padding {
		dst = append(dst, byte(i))
	}
	return dst, nil
}

func (s *numbersSerializer) Decode(src []byte) (batch.Batch, error) {
	if s.busy.Swap(true) {
		panic("serializer used by two goroutines")
	}
	defer s.busy.Store(false)
	if len(src) < 4 || uint64(len(src)-4) < 8*uint64(binary.LittleEndian.Uint32(src)) {
		return nil, fmt.Errorf("%d bytes are too few", len(src))
	}
	n := newNumbers(0)
	for i := range int(binary.LittleEndian.Uint32(src)) {
		n.vals = append(n.vals, int64(binary.LittleEndian.Uint64(src[4+8*i:])))
	}
	n.padding = len(src) - 4 - 8*len(n.vals)
	for i, b := range src[4+8*len(n.vals):] {
		if b != byte(i) {
			n.Release()
			return nil, fmt.Errorf("padding byte %d is %d", i, b)
		}
	}
	return n, nil
}

// maxPayload is what a frame carries at most, between hosts with buffers of the usual
// size.
const maxPayload = DefaultBufferSize - headerSize

// host is one TaskManager with one worker, listening like a real one.
type host struct {
	*Environment
	id       ident.ResourceID
	addr     string
	listener net.Listener
	group    sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn // accepted
}

// newHost starts a host; network is "unix" or "tcp".
func newHost(t testing.TB, network string, id ident.ResourceID, change func(*Options)) *host {
	t.Helper()
	h := &host{id: id}
	var err error
	if network == "unix" {
		path := filepath.Join(t.TempDir(), "data.sock")
		h.listener, err = net.Listen("unix", path)
		h.addr = "unix:" + path
	} else {
		h.listener, err = net.Listen("tcp", "127.0.0.1:0")
		h.addr = h.listener.Addr().String()
	}
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Job: ident.JobID{ID: ident.ID{1}}, Cluster: ident.ClusterID{ID: ident.ID{2}}, Self: id, Buffers: 2000, PartitionWait: time.Minute}
	if change != nil {
		change(&o)
	}
	h.Environment = NewEnvironment(o)
	h.group.Go(func() {
		for {
			conn, err := h.listener.Accept()
			if err != nil {
				return
			}
			hello, err := handshake.ReadHello(conn, 10*time.Second)
			if err != nil {
				_ = conn.Close()
				continue
			}
			h.mu.Lock()
			h.conns = append(h.conns, conn)
			h.mu.Unlock()
			h.Serve(conn, hello)
		}
	})
	t.Cleanup(func() {
		_ = h.listener.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		h.group.Wait()
	})
	return h
}

func (h *host) channel(partition, sub int) Channel {
	return Channel{Partition: partitionID(partition), Subpartition: sub, Resource: h.id, Addresses: []string{h.addr}}
}

// accepted is how many connections have come in.
func (h *host) accepted() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.conns)
}

func (h *host) cutConnections() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.conns {
		_ = c.Close()
	}
}

func partitionID(n int) ident.PartitionID {
	return ident.PartitionID{Producer: ident.AttemptID{Subtask: n}}
}

// reader is a gate with the task's side of the wake protocol.
type reader struct {
	*Gate
	woken chan struct{}
}

func newReader(t testing.TB, e *Environment, channels ...Channel) *reader {
	t.Helper()
	r := &reader{woken: make(chan struct{}, 1)}
	g, err := e.CreateGate(channels, newNumbersSerializer, func() {
		select {
		case r.woken <- struct{}{}:
		default:
		}
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Gate = g
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

func checkAllReleased(t *testing.T) {
	t.Helper()
	if n := live.Swap(0); n != 0 {
		t.Errorf("%d batches were not released", n)
	}
}

// checkBuffersBack waits until a host has all its buffers back.
func (h *host) checkBuffersBack(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for tick := time.NewTicker(time.Millisecond); ; {
		reserved, taken := h.pool.use()
		if reserved == 0 && taken == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Errorf("%s: %d buffers set aside, %d taken after all is over", h.id, reserved, taken)
			return
		}
	}
}

func wantError(t *testing.T, err error, is error, texts ...string) {
	t.Helper()
	if !errors.Is(err, is) {
		t.Errorf("got %v, want %v", err, is)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%q does not say %q", err, text)
		}
	}
}
