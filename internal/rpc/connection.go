package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

const (
	serviceName = "weir.Transport"
	streamName  = "Connect"

	// protocol is the version of the frames; it changes when an older process
	// would misread them. Both sides name theirs in the stream's headers.
	protocol    = "1"
	keyProtocol = "weir-protocol"
	// The caller also names itself: its address, and an id that differs in each
	// life of it.
	keyProcess  = "weir-process-bin"
	keyInstance = "weir-instance"
	// And it says which of the callee's names it has dialled: a connection takes
	// the place of an older one to the same name only.
	keyCallee = "weir-callee-bin"
)

// A connection carries this process's calls to one other process.
//
// It lives through three steps and is never used again: dialling, while calls
// wait in the outbox; open; ended. It leaves the server's table before its book
// is closed, so that a call that finds the book closed can make a new one.
type connection struct {
	server  *Server
	process string
	cancel  context.CancelCauseFunc
	book    book
	out     *outbox
	opened  atomic.Bool
}

// send queues a call that is entered in the connection's book.
func (conn *connection) send(p *pending, c Call) {
	frame, err := appendCall(nil, p.id, p.timeout, p.to.Endpoint, c)
	if err != nil {
		p.settle(nil, err)
		return
	}
	if !conn.out.put(outgoing{frame: frame, call: p}) {
		p.settle(nil, fmt.Errorf("more than %d bytes wait to be sent: %w", maxQueued, ErrUnreachable))
	}
}

// finish sends what is queued and then ends the connection.
func (conn *connection) finish() { conn.out.close() }

// run is the connection's life.
func (conn *connection) run(ctx context.Context) {
	defer conn.cancel(nil)
	err := conn.exchange(ctx)
	s := conn.server
	s.drop(conn)
	conn.out.close()
	ended := s.isClosed()
	conn.book.close(ErrUnreachable, func(p *pending) error {
		switch {
		case ended:
			return s.hasEnded()
		case p.sent.Load():
			return fmt.Errorf("%w: %w", ErrDisconnected, err)
		default:
			return fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
	})
	if ended || !conn.opened.Load() {
		return
	}
	s.log.Info("connection lost", "process", conn.process, "cause", err)
	s.watches.fire(conn.process, fmt.Errorf("connection to %s: %w", conn.process, err))
}

// exchange connects, then sends calls and settles them by the answers until
// the connection breaks, and says why it did.
func (conn *connection) exchange(ctx context.Context) error {
	socket, err := dial(ctx, conn.process)
	if err != nil {
		return err
	}
	client, err := newClient(socket)
	if err != nil {
		return errors.Join(err, socket.Close())
	}
	defer client.Close()
	stream, err := conn.open(ctx, client)
	if err != nil {
		return err
	}
	conn.opened.Store(true)

	writerDone := make(chan struct{})
	conn.server.tasks.Go(func() {
		defer close(writerDone)
		if conn.out.write(func(frame []byte) error { return stream.SendMsg(&frame) }) == nil {
			stream.CloseSend() // it cannot fail on a stream that is still sent to
		}
	})
	err = conn.read(stream)
	conn.cancel(err)
	conn.out.close()
	<-writerDone
	return err
}

func dial(ctx context.Context, process string) (net.Conn, error) {
	network, address, err := splitProcess(process)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	return dialer.DialContext(ctx, network, address)
}

// newClient makes a gRPC client of one connected socket. Dialling ourselves
// gives the plain error of a refused connection at once, and a new attempt
// with each connection, where gRPC would wait between attempts.
func newClient(socket net.Conn) (*grpc.ClientConn, error) {
	var taken atomic.Bool
	return grpc.NewClient("passthrough:///weir",
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			if taken.Swap(true) {
				return nil, errors.New("the connection is lost")
			}
			return socket, nil
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: dialTimeout}),
		grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepAlive, Timeout: keepAlive}),
		grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithIdleTimeout(0),
	)
}

// open starts the stream and checks that the other side is one of us.
func (conn *connection) open(ctx context.Context, client *grpc.ClientConn) (grpc.ClientStream, error) {
	ctx = metadata.AppendToOutgoingContext(ctx,
		keyProtocol, protocol, keyProcess, conn.server.self, keyInstance, conn.server.instance, keyCallee, conn.process)
	stream, err := client.NewStream(ctx, &grpc.StreamDesc{StreamName: streamName, ServerStreams: true, ClientStreams: true},
		"/"+serviceName+"/"+streamName, grpc.ForceCodecV2(frameCodec{}),
		grpc.MaxCallRecvMsgSize(maxFrame), grpc.MaxCallSendMsgSize(maxFrame))
	if err != nil {
		return nil, plain(err)
	}
	header, err := stream.Header()
	if err != nil {
		return nil, plain(err)
	}
	if theirs := header.Get(keyProtocol); len(theirs) != 1 || theirs[0] != protocol {
		// No such header: the stream ended instead of being accepted, and its
		// status says why.
		var none []byte
		if err := stream.RecvMsg(&none); err != nil && len(theirs) == 0 {
			return nil, plain(err)
		}
		return nil, fmt.Errorf("the process speaks protocol %q, this one %q", theirs, protocol)
	}
	return stream, nil
}

// read settles calls until the stream ends.
func (conn *connection) read(stream grpc.ClientStream) error {
	for {
		var data []byte
		if err := stream.RecvMsg(&data); err != nil {
			return plain(err)
		}
		f, err := decodeFrame(data)
		if err == nil && f.kind != frameAnswer {
			err = fmt.Errorf("frame of kind %d, where only answers are expected", f.kind)
		}
		if err != nil {
			return err
		}
		p := conn.book.find(f.id)
		if p == nil {
			continue // too late: the call is settled
		}
		if f.code != codeOK {
			p.settle(nil, decodeError(f.code, f.text))
			continue
		}
		p.settle(func(resp proto.Message) error { return decodeMessage("answer", p.method, f.payload, resp) }, nil)
	}
}

// plain gives the text of a gRPC status without its wrapping.
func plain(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the process closed the connection")
	}
	if st, ok := status.FromError(err); ok {
		return errors.New(st.Message())
	}
	return err
}
