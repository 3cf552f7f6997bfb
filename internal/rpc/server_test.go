package rpc_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/pb"
)

var echo = rpc.Method[*pb.ReadBlobRequest, *pb.ReadBlobResponse]{Name: "Test/Echo"}

// serveEcho serves an endpoint "blob" and notes what it is asked; the notes are
// touched only on the loop.
func serveEcho(t *testing.T, sys rpc.System) (loop *actor.Real, seen *[]string) {
	t.Helper()
	loop, seen = actor.Start("callee"), new([]string)
	t.Cleanup(loop.Close)
	mux := &rpc.Mux{}
	rpc.Handle(mux, echo, func(q *pb.ReadBlobRequest, reply func(*pb.ReadBlobResponse, error)) {
		*seen = append(*seen, q.Sha256)
		reply(&pb.ReadBlobResponse{Data: []byte(q.Sha256)}, nil)
	})
	sys.Serve("blob", loop, mux)
	return loop, seen
}

// caller is a process that only calls.
type caller struct {
	sys  *rpc.Server
	loop *actor.Real
}

func newCaller(t *testing.T) *caller {
	t.Helper()
	c := &caller{sys: listen(t, "127.0.0.1:0"), loop: actor.Start("caller")}
	t.Cleanup(c.loop.Close)
	return c
}

func (c *caller) call(process, text string) (string, error) {
	return c.callWithin(process, text, time.Minute)
}

func (c *caller) callWithin(process, text string, timeout time.Duration) (answer string, err error) {
	done := make(chan struct{})
	echo.Call(c.sys, c.loop, rpc.Address{Process: process, Endpoint: "blob"}, ident.LeaderID{}, &pb.ReadBlobRequest{Sha256: text}, timeout,
		func(resp *pb.ReadBlobResponse, failed error) {
			defer close(done)
			if err = failed; err == nil {
				answer = string(resp.Data)
			}
		})
	<-done
	return answer, err
}

func (c *caller) mustEcho(t *testing.T, process string) {
	t.Helper()
	if got, err := c.call(process, "hello"); got != "hello" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
}

// journal is a log that tests can read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// Whatever strangers say at the port, they are let go and the others served.
func TestStrangers(t *testing.T) {
	log := &journal{}
	sys, err := rpc.Listen(rpc.Options{Listen: "127.0.0.1:0", Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sys.Close)
	serveEcho(t, sys)
	c := newCaller(t)
	c.mustEcho(t, sys.Self())

	say := func(what []byte) {
		conn, err := net.Dial("tcp", sys.Self())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.Write(what)
		if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Error(err)
		}
	}
	say(tlsHello(t))
	if !strings.Contains(log.String(), "level=WARN msg=\"stranger at the RPC port\"") || !strings.Contains(log.String(), "protocol=TLS") {
		t.Errorf("the log says nothing of a TLS client:\n%s", log)
	}
	say([]byte("GET /overview HTTP/1.1\r\nHost: weir\r\n\r\n"))
	if !strings.Contains(log.String(), "level=DEBUG msg=\"stranger at the RPC port\"") || !strings.Contains(log.String(), "protocol=HTTP/1") {
		t.Errorf("the log says nothing of a browser:\n%s", log)
	}
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for range 50 {
		junk := make([]byte, 24+random.IntN(5000))
		for i := range junk {
			junk[i] = byte(random.Uint32())
		}
		say(junk)
	}
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	say([]byte(preface[:20] + "xxxx"))
	say(append([]byte(preface), bytes.Repeat([]byte{0xff}, 1000)...)) // HTTP/2 frames that are none
	if n := strings.Count(log.String(), "level=WARN msg=\"stranger"); n != 1 {
		t.Errorf("%d warnings of strangers, want 1", n)
	}
	c.mustEcho(t, sys.Self())

	// Two that connect and say nothing, or half a preface, do not hold up Close.
	for _, half := range []string{"", preface[:10]} {
		conn, err := net.Dial("tcp", sys.Self())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.Write([]byte(half))
	}
	c.mustEcho(t, sys.Self())
	sys.Close()
}

// tlsHello is what a TLS client says first.
func tlsHello(t *testing.T) []byte {
	t.Helper()
	here, there := net.Pipe()
	var client sync.WaitGroup
	client.Go(func() { tls.Client(here, &tls.Config{ServerName: "weir"}).Handshake() })
	defer client.Wait()
	defer there.Close()
	hello := make([]byte, 4096)
	n, err := there.Read(hello)
	if err != nil {
		t.Fatal(err)
	}
	return hello[:n]
}

// rawCodec is the frames' codec as a client of another make would have it.
type rawCodec struct{}

var _ encoding.Codec = rawCodec{}

func (rawCodec) Name() string                       { return "weir" }
func (rawCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = bytes.Clone(data); return nil }

// rawStream opens the transport's stream with headers of our choice.
func rawStream(t *testing.T, process string, headers ...string) grpc.ClientStream {
	t.Helper()
	client, err := grpc.NewClient("passthrough:///"+process, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	ctx := metadata.AppendToOutgoingContext(t.Context(), headers...)
	stream, err := client.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/weir.Transport/Connect", grpc.ForceCodec(rawCodec{}))
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func TestOtherProtocolIsRefused(t *testing.T) {
	sys := listen(t, "127.0.0.1:0")
	for _, headers := range [][]string{{}, {"weir-protocol", "999"}} {
		var data []byte
		err := rawStream(t, sys.Self(), headers...).RecvMsg(&data)
		if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), `speaks protocol "1", the caller "`) {
			t.Errorf("headers %q: %v", headers, err)
		}
	}
}

func TestBadFramesEndOnlyTheirConnection(t *testing.T) {
	sys := listen(t, "127.0.0.1:0")
	serveEcho(t, sys)
	c := newCaller(t)
	c.mustEcho(t, sys.Self())
	for i, bad := range [][]byte{{}, {1}, {77, 1}, bytes.Repeat([]byte{0xff}, 100), {2, 1, 0, 0}} {
		stream := rawStream(t, sys.Self(), "weir-protocol", "1", "weir-process-bin", "raw", "weir-instance", fmt.Sprint(i))
		if err := stream.SendMsg(&bad); err != nil {
			t.Fatal(err)
		}
		var data []byte
		if err := stream.RecvMsg(&data); status.Code(err) != codes.Aborted {
			t.Errorf("frame %q: %v", bad, err)
		}
	}
	c.mustEcho(t, sys.Self())
}

// A caller that connects anew has given up its older connection.
func TestNewerConnectionReplacesOlder(t *testing.T) {
	sys := listen(t, "127.0.0.1:0")
	headers := []string{"weir-protocol", "1", "weir-process-bin", "raw", "weir-instance", "same"}
	older := rawStream(t, sys.Self(), headers...)
	if _, err := older.Header(); err != nil {
		t.Fatal(err)
	}
	newer := rawStream(t, sys.Self(), headers...)
	if _, err := newer.Header(); err != nil {
		t.Fatal(err)
	}
	var data []byte
	if err := older.RecvMsg(&data); status.Code(err) != codes.Aborted {
		t.Errorf("the older connection ended with %v", err)
	}
	call := []byte("\x01\x07\x00" + strings.Repeat("\x00", 16) + "\x06nobody\x01m")
	if err := newer.SendMsg(&call); err != nil {
		t.Fatal(err)
	}
	if err := newer.RecvMsg(&data); err != nil || !bytes.HasPrefix(data, []byte("\x02\x07\x02")) {
		t.Errorf("the newer connection answered %q, %v", data, err)
	}
}

// A process that is known by two names is called under both, without the one
// connection taking the other's place.
func TestTwoNamesOfOneProcess(t *testing.T) {
	sys := listen(t, "127.0.0.1:0")
	serveEcho(t, sys)
	c := newCaller(t)
	_, port, err := net.SplitHostPort(sys.Self())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.mustEcho(t, sys.Self())
		c.mustEcho(t, "localhost:"+port)
	}
	lost := make(chan error, 1)
	c.sys.Watch(c.loop, sys.Self(), func(cause error) { lost <- cause })
	c.mustEcho(t, "localhost:"+port)
	c.mustEcho(t, sys.Self())
	select {
	case cause := <-lost:
		t.Errorf("a connection was lost: %v", cause)
	default:
	}
}

// A process that comes back at its address is reached by the next call.
func TestRestartedProcessIsReachedAtOnce(t *testing.T) {
	c := newCaller(t)
	for _, at := range []string{"127.0.0.1:0", "unix:" + filepath.Join(t.TempDir(), "s")} {
		sys := listen(t, at)
		at = sys.Self()
		for range 3 {
			serveEcho(t, sys)
			c.mustEcho(t, at)
			lost := make(chan error, 1)
			c.sys.Watch(c.loop, at, func(cause error) { lost <- cause })
			sys.Close()
			if cause := <-lost; cause == nil {
				t.Error("lost without a cause")
			}
			if _, err := c.call(at, ""); !errors.Is(err, rpc.ErrUnreachable) || errors.Is(err, rpc.ErrDisconnected) {
				t.Errorf("call to nobody: %v", err)
			}
			sys = listen(t, at)
		}
		serveEcho(t, sys)
		c.mustEcho(t, at)
	}
}

// The callee notices the end of a caller it has never called itself.
func TestWatchNoticesAnIncomingConnection(t *testing.T) {
	sys := listen(t, "127.0.0.1:0")
	loop, _ := serveEcho(t, sys)
	c := newCaller(t)
	c.mustEcho(t, sys.Self())
	lost := make(chan error, 1)
	sys.Watch(loop, c.sys.Self(), func(cause error) { lost <- cause })
	c.sys.Close()
	if cause := <-lost; !strings.Contains(cause.Error(), c.sys.Self()) {
		t.Errorf("lost because of %v", cause)
	}
}

// What a process says before it closes is heard.
func TestCloseSendsWhatWasHandedOver(t *testing.T) {
	sys := listen(t, "127.0.0.1:0")
	loop, seen := serveEcho(t, sys)
	c := newCaller(t)
	c.mustEcho(t, sys.Self())
	const letters = 500
	to := rpc.Address{Process: sys.Self(), Endpoint: "blob"}
	for i := range letters {
		echo.Send(c.sys, c.loop, to, ident.LeaderID{}, &pb.ReadBlobRequest{Sha256: fmt.Sprint(i)})
	}
	c.sys.Close()
	got, err := actor.Query(t.Context(), loop, func() int { return len(*seen) - 1 })
	if got != letters || err != nil {
		t.Errorf("%d of %d letters came, %v", got, letters, err)
	}
}

// An answer given right before the end arrives, as that of a shutdown must.
func TestCloseSendsAnswers(t *testing.T) {
	sys := listen(t, "127.0.0.1:0")
	loop := actor.Start("callee")
	t.Cleanup(loop.Close)
	closed := make(chan struct{})
	mux := &rpc.Mux{}
	rpc.Handle(mux, echo, func(q *pb.ReadBlobRequest, reply func(*pb.ReadBlobResponse, error)) {
		reply(&pb.ReadBlobResponse{Data: []byte("goodbye")}, nil)
		loop.Go(func() { sys.Close(); close(closed) }, func() {})
	})
	sys.Serve("blob", loop, mux)
	c := newCaller(t)
	if got, err := c.call(sys.Self(), ""); got != "goodbye" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	<-closed
}

// Others than us at the other end: one that never answers, one that speaks
// HTTP/1, one that speaks gRPC but not ours.
func TestOtherServers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler()}
	var serving sync.WaitGroup
	serving.Go(func() { server.Serve(web) })
	defer serving.Wait()
	defer server.Close()
	foreign := grpc.NewServer()
	grpcAt, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serving.Go(func() { foreign.Serve(grpcAt) })
	defer foreign.Stop()

	c := newCaller(t)
	for at, want := range map[string]error{
		silent.Addr().String(): rpc.ErrTimeout,
		web.Addr().String():    rpc.ErrUnreachable,
		grpcAt.Addr().String(): rpc.ErrUnreachable,
		"no address":           rpc.ErrUnreachable,
		"mem:other":            rpc.ErrUnreachable,
		"unix:":                rpc.ErrUnreachable,
		"127.0.0.1:1":          rpc.ErrUnreachable,
	} {
		timeout := time.Minute
		if want == rpc.ErrTimeout {
			timeout = 50 * time.Millisecond
		}
		_, err := c.callWithin(at, "", timeout)
		if !errors.Is(err, want) || errors.Is(err, rpc.ErrDisconnected) {
			t.Errorf("call to %s: %v, want %v", at, err, want)
		}
	}
}

func TestListenErrors(t *testing.T) {
	taken := listen(t, "127.0.0.1:0")
	for want, o := range map[string]rpc.Options{
		"listen on " + taken.Self():                  {Listen: taken.Self()},
		"want host:port or unix:/path":               {Listen: "6123"},
		"a socket's path has 1 to 107 bytes":         {Listen: "unix:/" + strings.Repeat("x", 200)},
		"an address to advertise is needed":          {Listen: "0.0.0.0:0"},
		`process address "nonsense": want host:port`: {Listen: "127.0.0.1:0", Advertise: "nonsense"},
	} {
		sys, err := rpc.Listen(o)
		if err == nil {
			sys.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	sys, err := rpc.Listen(rpc.Options{Listen: "0.0.0.0:0", Advertise: "example.org:6123"})
	if err != nil || sys.Self() != "example.org:6123" {
		t.Errorf("%v, %v", sys, err)
	}
	sys.Close()
}

// Processes die and come back at random while all call each other: every
// continuation runs once, and what one process executes of another comes in
// order.
func TestChaos(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	const processes, rounds, burst = 4, 60, 20
	type process struct {
		sys  *rpc.Server
		loop *actor.Real
	}
	var (
		mu      sync.Mutex
		ran     = map[int]int{}    // continuations by call
		highest = map[string]int{} // call last executed, by callee and caller
		calls   int
	)
	open := sync.WaitGroup{}
	start := func(at string) *process {
		p := &process{sys: listen(t, at), loop: actor.Start(at)}
		mux := &rpc.Mux{}
		rpc.Handle(mux, echo, func(q *pb.ReadBlobRequest, reply func(*pb.ReadBlobResponse, error)) {
			mu.Lock()
			defer mu.Unlock()
			key := p.sys.Self() + " from " + q.Sha256
			if last := highest[key]; int(q.Offset) <= last {
				t.Errorf("%s: call %d came after call %d", key, q.Offset, last)
			}
			highest[key] = int(q.Offset)
			if q.Offset%7 != 0 { // these answer
				reply(&pb.ReadBlobResponse{}, nil)
				return
			}
			p.loop.After(time.Millisecond, func() { reply(nil, rpc.Refuse("later")) })
		})
		p.sys.Serve("blob", p.loop, mux)
		return p
	}
	dir := t.TempDir()
	var all [processes]*process
	for i := range all {
		at := "127.0.0.1:0"
		if i%2 == 1 {
			at = "unix:" + filepath.Join(dir, fmt.Sprint(i))
		}
		all[i] = start(at)
	}
	callers := actor.Start("callers") // outlives the processes
	defer callers.Close()
	for range rounds {
		from, to := random.IntN(processes), random.IntN(processes)
		for range burst {
			mu.Lock()
			calls++
			n := calls
			mu.Unlock()
			open.Add(1)
			echo.Call(all[from].sys, callers, rpc.Address{Process: all[to].sys.Self(), Endpoint: "blob"}, ident.LeaderID{},
				&pb.ReadBlobRequest{Sha256: all[from].sys.Self(), Offset: int64(n)}, 5*time.Second, func(_ *pb.ReadBlobResponse, err error) {
					mu.Lock()
					ran[n]++
					first := ran[n] == 1
					mu.Unlock()
					if first {
						open.Done()
					}
				})
		}
		if random.IntN(3) == 0 {
			victim := random.IntN(processes)
			at := all[victim].sys.Self()
			all[victim].sys.Close()
			all[victim].loop.Close()
			all[victim] = start(at)
		}
	}
	open.Wait()
	for _, p := range all {
		p.sys.Close()
		p.loop.Close()
	}
	if _, err := actor.Query(context.Background(), callers, func() int { return 0 }); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= calls; n++ {
		if ran[n] != 1 {
			t.Errorf("continuation of call %d ran %d times", n, ran[n])
		}
	}
}

func BenchmarkListenAndFirstCall(b *testing.B) {
	loop := actor.Start("both")
	defer loop.Close()
	for b.Loop() {
		callee, err := rpc.Listen(rpc.Options{Listen: "127.0.0.1:0"})
		if err != nil {
			b.Fatal(err)
		}
		benchEcho(b, callee, loop)
		c, err := rpc.Listen(rpc.Options{Listen: "127.0.0.1:0"})
		if err != nil {
			b.Fatal(err)
		}
		benchCall(b, c, loop, callee.Self())
		c.Close()
		callee.Close()
	}
}

func BenchmarkCall(b *testing.B) {
	loop := actor.Start("both")
	defer loop.Close()
	callee, err := rpc.Listen(rpc.Options{Listen: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	defer callee.Close()
	benchEcho(b, callee, loop)
	c, err := rpc.Listen(rpc.Options{Listen: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for b.Loop() {
		benchCall(b, c, loop, callee.Self())
	}
}

func benchEcho(b *testing.B, sys rpc.System, loop actor.Loop) {
	mux := &rpc.Mux{}
	rpc.Handle(mux, echo, func(q *pb.ReadBlobRequest, reply func(*pb.ReadBlobResponse, error)) {
		reply(&pb.ReadBlobResponse{}, nil)
	})
	sys.Serve("blob", loop, mux)
}

func benchCall(b *testing.B, sys rpc.System, loop actor.Loop, process string) {
	done := make(chan error, 1)
	echo.Call(sys, loop, rpc.Address{Process: process, Endpoint: "blob"}, ident.LeaderID{}, &pb.ReadBlobRequest{}, time.Minute,
		func(_ *pb.ReadBlobResponse, err error) { done <- err })
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}
