package network

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/local"
)

// bareLink is a consumer's end without a connection, with one channel of two
// credits.
func bareLink(t *testing.T) (*link, *channel) {
	t.Helper()
	e := NewEnvironment(Options{Buffers: 64})
	g := &Gate{Gate: local.NewGate(1, func() {}, nil), env: e, serializer: newNumbersSerializer()}
	c := &channel{gate: g, pool: e.pool, own: 2, most: 4, reserved: 2, announced: 2}
	if err := e.pool.reserve(2, "test"); err != nil {
		t.Fatal(err)
	}
	g.Use(0, c)
	l := &link{env: e, stop: func(error) {}, wakeup: make(chan struct{}, 1), channels: map[uint32]*channel{}}
	l.open(c)
	return l, c
}

// FuzzLinkReader feeds a consumer's end with any bytes.
func FuzzLinkReader(f *testing.F) {
	control := header{kind: frameControl, seq: 2}.append(nil, appendControl(nil, element.Element{Kind: element.Barrier, Checkpoint: 4}))
	encoded, _ := newNumbersSerializer().Append(nil, newNumbers(9, 1, 2))
	live.Store(0)
	good := header{kind: frameData, backlog: 3}.append(nil, encoded)
	good = header{kind: frameData, seq: 1, flags: flagMore}.append(good, encoded)
	f.Add(append(good, control...))
	f.Add(header{kind: frameFailure}.append(nil, []byte("\x02not there")))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, c := bareLink(t)
		g, pool := c.gate, c.pool
		if err := l.read(bytes.NewReader(b)); err == nil {
			t.Error("the end of the stream is not an error")
		} else {
			l.fail(err)
		}
		for {
			_, e, ok, err := g.Poll()
			if e.Batch != nil {
				e.Batch.Release()
			}
			if !ok || err != nil {
				break
			}
		}
		g.Close()
		if reserved, taken := pool.use(); reserved != 0 || taken != 0 {
			t.Errorf("%d buffers set aside, %d taken", reserved, taken)
		}
	})
}

// FuzzSessionReader feeds a producer's end with any bytes.
func FuzzSessionReader(f *testing.F) {
	ask := header{kind: frameRequest}.append(nil, request{partition: partitionID(0), credit: 1}.append(nil))
	f.Add(append(header{kind: frameCredit, seq: 3}.append(ask[:len(ask):len(ask)], nil), header{kind: frameClose}.append(nil, nil)...))
	f.Add(ask)
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e := NewEnvironment(Options{Buffers: 64})
		p := e.CreatePartition(partitionID(0), 1, newNumbersSerializer, nil)
		if err := p.Emit(0, newNumbers(0, 1)); err != nil {
			t.Fatal(err)
		}
		a, other := net.Pipe()
		_ = other.Close()
		s := &session{env: e, conn: a, wakeup: make(chan struct{}, 1), views: map[uint32]*view{}}
		err := s.read(bytes.NewReader(b))
		o := newOutbox(e.pool, minFrames, LeastBufferSize)
		if s.gather(o) && len(o.ends) == 0 {
			t.Error("nothing gathered")
		}
		o.close()
		s.end(err)
		if err == nil {
			t.Error("the end of the stream is not an error")
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// FuzzFrames checks that what parses is what was written.
func FuzzFrames(f *testing.F) {
	f.Add(make([]byte, headerSize))
	f.Add(appendControl(nil, element.Element{Kind: element.Status, Idle: true}))
	f.Add(request{partition: partitionID(9), subs: shuffle.Range{First: 1, Last: 3}, credit: 2}.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= headerSize {
			if h, err := parseHeader(b, maxPayload); err == nil {
				var again [headerSize]byte
				if h.put(again[:]); !bytes.Equal(again[:], b[:headerSize]) {
					t.Errorf("header %+v of %x", h, b[:headerSize])
				}
			}
		}
		if e, err := parseControl(b); err == nil && !bytes.Equal(appendControl(nil, e), b) {
			t.Errorf("control element %+v of %x", e, b)
		}
		if r, err := parseRequest(b); err == nil && !bytes.Equal(r.append(nil), b) {
			t.Errorf("request %+v of %x", r, b)
		}
		if err := parseFailure(b, partitionID(0), "x"); err == nil {
			t.Error("a failure without error")
		}
		if _, err := readFrame(bytes.NewReader(b), make(buffer, DefaultBufferSize)); err == io.EOF && len(b) > 0 {
			t.Error("a cut frame looks like an orderly end")
		}
	})
}
