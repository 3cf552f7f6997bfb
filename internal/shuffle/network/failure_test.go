package network

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/handshake"
	"github.com/weirstream/weir/internal/shuffle/local"
)

// emitUntilError writes until the partition fails.
func emitUntilError(p *local.Partition) error {
	for {
		if err := p.Emit(0, newNumbers(10_000, 1)); err != nil {
			return err
		}
	}
}

// readUntilError reads until the gate fails.
func readUntilError(r *reader) error {
	for {
		_, e, err := r.next()
		if err != nil {
			return err
		}
		if e.Batch != nil {
			e.Batch.Release()
		}
	}
}

func TestConnectionCutInTheMiddle(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		from, to := newHost(t, network, "from", nil), newHost(t, network, "to", nil)
		p := from.CreatePartition(partitionID(7), 1, newNumbersSerializer, nil)
		quiet := from.CreatePartition(partitionID(8), 1, newNumbersSerializer, nil)
		r := newReader(t, to.Environment, from.channel(7, 0))
		waits := newReader(t, to.Environment, from.channel(9, 0))
		q := newReader(t, to.Environment, from.channel(8, 0))
		failed := make(chan error)
		go func() { failed <- emitUntilError(p) }()
		if _, e, err := r.next(); err != nil {
			t.Fatal(err)
		} else {
			e.Batch.Release()
		}
		// Requests come in the order made: with the last one all are there.
		if err := quiet.Control(element.Element{Kind: element.Watermark, Time: 1}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := q.next(); err != nil {
			t.Fatal(err)
		}
		from.cutConnections()
		wantError(t, readUntilError(r), shuffle.ErrPeerLost, partitionID(7).String(), from.addr)
		wantError(t, readUntilError(q), shuffle.ErrPeerLost, partitionID(8).String())
		wantError(t, readUntilError(waits), shuffle.ErrPeerLost, partitionID(9).String())
		wantError(t, <-failed, shuffle.ErrPeerLost, partitionID(7).String(), "to")
		<-quiet.Consumed()
		wantError(t, quiet.Emit(0, newNumbers(0, 1)), shuffle.ErrPeerLost)
		for _, r := range []*reader{r, q, waits} {
			r.Close()
		}
		to.checkBuffersBack(t)
		from.checkBuffersBack(t)
		checkAllReleased(t)

		// The next gate makes a connection of its own.
		again := from.CreatePartition(partitionID(10), 1, newNumbersSerializer, nil)
		_ = again.Finish()
		r = newReader(t, to.Environment, from.channel(10, 0))
		drain(t, r)
		r.Close()
		<-again.Consumed()
	}
}

func TestProducerIsNotThere(t *testing.T) {
	to := newHost(t, "unix", "to", nil)
	path := "unix:" + filepath.Join(t.TempDir(), "nobody.sock")
	r := newReader(t, to.Environment, Channel{Partition: partitionID(3), Resource: "gone", Addresses: []string{path}})
	_, _, err := r.next()
	wantError(t, err, shuffle.ErrPeerLost, partitionID(3).String(), path)
	r.Close()
	if _, err := to.CreateGate([]Channel{{Resource: "gone"}}, newNumbersSerializer, func() {}, nil); err == nil {
		t.Error("a gate without an address was made")
	}
	to.checkBuffersBack(t)
}

func TestStrangersAreRefused(t *testing.T) {
	from := newHost(t, "tcp", "from", nil)
	for want, change := range map[string]func(*Options){
		"this is cluster 0200":       func(o *Options) { o.Cluster.ID[0] = 9 },
		"this worker runs job 01000": func(o *Options) { o.Job.ID[0] = 9 },
	} {
		to := newHost(t, "tcp", "to", change)
		r := newReader(t, to.Environment, from.channel(0, 0))
		_, _, err := r.next()
		wantError(t, err, shuffle.ErrPeerLost, "refused", want)
		r.Close()
	}
	to := newHost(t, "tcp", "to", nil)
	c := from.channel(0, 0)
	c.Resource = "someone else"
	r := newReader(t, to.Environment, c)
	_, _, err := r.next()
	wantError(t, err, shuffle.ErrPeerLost, "refused: TaskManager someone else, this is from")
	r.Close()

	conn, err := Dial(t.Context(), []string{from.addr})
	if err != nil {
		t.Fatal(err)
	}
	var refused *handshake.RefusedError
	if err := handshake.Open(t.Context(), conn, handshake.Hello{Version: 99, BufferSize: DefaultBufferSize}); !errors.As(err, &refused) {
		t.Errorf("version 99: %v", err)
	}
	_ = conn.Close()
}

func TestWorkerThatStartsLaterIsAskedAgain(t *testing.T) {
	from := newHost(t, "tcp", "from", nil)
	refusals := 0
	to := newHost(t, "tcp", "to", func(o *Options) {
		o.Dial = func(ctx context.Context, addrs []string) (net.Conn, error) {
			if refusals == 2 {
				return Dial(ctx, addrs)
			}
			refusals++
			a, b := net.Pipe()
			go func() {
				_, _ = handshake.ReadHello(b, time.Minute)
				_ = handshake.Refuse(b, handshake.NotYet, "no worker of this job")
				_ = b.Close()
			}()
			return a, nil
		}
	})
	p := from.CreatePartition(partitionID(0), 1, newNumbersSerializer, nil)
	r := newReader(t, to.Environment, from.channel(0, 0))
	_ = p.Finish()
	drain(t, r)
	r.Close()
	if refusals != 2 {
		t.Errorf("asked again after %d refusals", refusals)
	}
	<-p.Consumed()
}

func TestPartitionThatNeverComes(t *testing.T) {
	from, to := newHost(t, "unix", "from", func(o *Options) { o.PartitionWait = 10 * time.Millisecond }), newHost(t, "unix", "to", nil)
	r := newReader(t, to.Environment, from.channel(0, 0))
	_, _, err := r.next()
	wantError(t, err, shuffle.ErrPartitionNotFound, "not there within 10ms", from.addr)
	r.Close()

	// A gate that gives up no longer waits, nor does its request.
	q := newReader(t, to.Environment, from.channel(1, 0))
	q.Close()
	to.checkBuffersBack(t)
	from.checkBuffersBack(t)
}

func TestBatchThatCannotBeEncoded(t *testing.T) {
	for padding, want := range map[int]string{-1: errPoison.Error(), -2: "panic: poison"} {
		from, to := newHost(t, "unix", "from", nil), newHost(t, "unix", "to", nil)
		p := from.CreatePartition(partitionID(0), 2, newNumbersSerializer, nil)
		r := newReader(t, to.Environment, from.channel(0, 0), from.channel(0, 1))
		if err := p.Emit(0, newNumbers(padding, 1)); err != nil {
			t.Fatal(err)
		}
		_, _, err := r.next()
		wantError(t, err, shuffle.ErrProducerFailed, want)
		err = emitUntilError(p)
		if errors.Is(err, shuffle.ErrProducerFailed) {
			t.Errorf("the producer is told of itself: %v", err)
		}
		if padding == -1 {
			wantError(t, err, errPoison)
		}
		r.Close()
		<-p.Consumed()
		checkAllReleased(t)
	}
}

func TestReleasedPartition(t *testing.T) {
	from, to := newHost(t, "unix", "from", nil), newHost(t, "unix", "to", nil)
	p := from.CreatePartition(partitionID(0), 2, newNumbersSerializer, nil)
	r := newReader(t, to.Environment, from.channel(0, 0))
	if err := p.Emit(1, newNumbers(0, 1)); err != nil {
		t.Fatal(err)
	}
	for p.Metrics().Bytes == 0 {
		if err := p.Emit(0, newNumbers(0, 1)); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	from.Release(p.ID())
	wantError(t, readUntilError(r), shuffle.ErrProducerFailed, "released")
	r.Close()
	<-p.Consumed()
	checkAllReleased(t)
}

// TestCloseWithEverythingOpen closes the consumer's process while data flows,
// then the producer's while its consumer waits.
func TestCloseWithEverythingOpen(t *testing.T) {
	from, to, third := newHost(t, "unix", "from", nil), newHost(t, "unix", "to", nil), newHost(t, "unix", "third", nil)
	p := from.CreatePartition(partitionID(0), 1, newNumbersSerializer, nil)
	newReader(t, to.Environment, from.channel(0, 0), from.channel(5, 0))
	waits := newReader(t, third.Environment, from.channel(1, 0))
	for range 8 {
		if err := p.Emit(0, newNumbers(0, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Error(err)
	}
	if err := from.Close(); err != nil {
		t.Error(err)
	}
	if err := emitUntilError(from.CreatePartition(partitionID(2), 1, newNumbersSerializer, nil)); err == nil {
		t.Error("emitted after Close")
	}
	if _, err := from.CreateGate(nil, newNumbersSerializer, func() {}, nil); !errors.Is(err, errClosed) {
		t.Errorf("gate after Close: %v", err)
	}
	if err := readUntilError(waits); err == nil {
		t.Error("a consumer did not hear that its producer's process ended")
	}
	waits.Close()
	checkAllReleased(t)
}

// impostor is a producer's end that does what the test says.
func impostor(t *testing.T, behave func(net.Conn)) Channel {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err := handshake.ReadHello(conn, time.Minute); err != nil {
			t.Error(err)
		}
		_ = handshake.Accept(conn)
		behave(conn)
		_, _ = io.Copy(io.Discard, conn)
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return Channel{Partition: partitionID(0), Resource: "impostor", Addresses: []string{l.Addr().String()}}
}

func TestCorruptFrames(t *testing.T) {
	data := func(h header, payload string) []byte {
		h.kind = frameData
		return h.append(nil, []byte(payload))
	}
	end := header{kind: frameControl}.append(nil, appendControl(nil, element.Element{Kind: element.EndOfPartition}))
	for name, test := range map[string]struct {
		sends []byte
		want  string
	}{
		"payload too long":  {[]byte("\xff\xff\xff\xff\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"), "payload of 4294967295 bytes"},
		"wrong kind":        {header{kind: 77}.append(nil, nil), "kind 77"},
		"consumer's kind":   {header{kind: frameCredit}.append(nil, nil), "kind 5"},
		"unknown channel":   {data(header{channel: 1}, "x"), "channel 1, which was never asked for"},
		"wrong seq":         {data(header{seq: 1}, "x"), "frame 1 of channel 0, want 0"},
		"data after end":    {append(end, data(header{seq: 1}, "x")...), ""},
		"empty data":        {data(header{}, ""), "data of 0 bytes"},
		"unknown flags":     {data(header{flags: 6}, "x"), "flags 6"},
		"short control":     {header{kind: frameControl}.append(nil, []byte("abc")), "control element of 3 bytes"},
		"data as control":   {header{kind: frameControl}.append(nil, make([]byte, controlSize)), "control element of kind 0"},
		"undecodable batch": {data(header{}, "x"), "decode a batch of 1 bytes"},
		"cut header":        {[]byte("abc"), "EOF"},
		"cut payload":       {data(header{}, "12345")[:headerSize+2], "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			to := newHost(t, "tcp", "to", nil)
			c := impostor(t, func(conn net.Conn) {
				_, _ = conn.Read(make([]byte, headerSize+requestSize))
				_, _ = conn.Write(test.sends)
				if strings.HasPrefix(name, "cut") {
					_ = conn.(*net.TCPConn).CloseWrite()
				}
			})
			r := newReader(t, to.Environment, c)
			if test.want == "" { // the end has come: what follows harms the connection only
				drain(t, r)
			} else if err := readUntilError(r); err == nil {
				t.Error("no error")
			} else {
				wantError(t, err, err, test.want)
			}
			r.Close()
			to.checkBuffersBack(t)
		})
	}
}

func TestDataWithoutCredit(t *testing.T) {
	l, c := bareLink(t)
	var sends []byte
	for i := range uint32(3) {
		sends = header{kind: frameData, seq: i, flags: flagMore}.append(sends, []byte("x"))
	}
	err := l.read(bytes.NewReader(sends))
	wantError(t, err, errCorrupt, "without credit")
	l.fail(err)
	_, _, _, err = c.gate.Poll()
	wantError(t, err, shuffle.ErrPeerLost, "without credit")
	c.gate.Close()
	if reserved, taken := c.pool.use(); reserved != 0 || taken != 0 {
		t.Errorf("%d buffers set aside, %d taken", reserved, taken)
	}
}

func TestFailureIsToldAsItWas(t *testing.T) {
	to := newHost(t, "tcp", "to", nil)
	c := impostor(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, headerSize+requestSize))
		_, _ = conn.Write(header{kind: frameFailure}.append(nil, appendFailure(nil, errors.New("disk on fire"))))
	})
	r := newReader(t, to.Environment, c)
	_, _, err := r.next()
	wantError(t, err, shuffle.ErrProducerFailed, "disk on fire")
	r.Close()
}

func TestCorruptMessagesToAProducer(t *testing.T) {
	ask := header{kind: frameRequest}.append(nil, request{partition: partitionID(0), credit: 1}.append(nil))
	for name, sends := range map[string][]byte{
		"length":            []byte("\xff\xff\xff\xff\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00"),
		"skipped channel":   header{kind: frameRequest, channel: 1}.append(nil, request{}.append(nil)),
		"short request":     header{kind: frameRequest}.append(nil, []byte("x")),
		"huge credit":       append(ask[:len(ask):len(ask)], header{kind: frameCredit, seq: 1 << 30}.append(nil, nil)...),
		"unknown channel":   header{kind: frameClose, channel: 3}.append(nil, nil),
		"kind":              append(ask[:len(ask):len(ask)], header{kind: frameData}.append(nil, nil)...),
		"payload of credit": append(ask[:len(ask):len(ask)], header{kind: frameCredit, seq: 1}.append(nil, []byte("x"))...),
	} {
		from := newHost(t, "tcp", "from", nil)
		conn, err := Dial(t.Context(), []string{from.addr})
		if err != nil {
			t.Fatal(err)
		}
		hello := handshake.Hello{Version: handshake.Version, Cluster: from.cluster, Job: from.job, Target: from.self, Source: ident.ResourceID("x"), BufferSize: DefaultBufferSize}
		if err := handshake.Open(t.Context(), conn, hello); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(sends); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: read %d bytes, want the end", name, n)
		}
		_ = conn.Close()
		from.checkBuffersBack(t)
	}
}
