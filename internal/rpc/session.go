package rpc

import (
	"errors"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// A session is the accepting side of a connection: it delivers another
// process's calls and sends the answers.
//
// A process that connects anew replaces its older session, if it uses the same
// name for this process, and the older one has stopped delivering before the
// newer begins: a call that was reported as lost is never executed after a later
// one.
type session struct {
	server  *Server
	process string // as the caller names itself
	key     string // the caller's life and the name it has for this process
	out     *outbox

	haltOnce  sync.Once
	halted    chan struct{} // closed: deliver and send nothing more
	readDone  chan struct{} // closed: nothing more will be delivered
	cause     error         // why reading ended; set before readDone is closed
	writeDone chan struct{} // closed: nothing more will be sent
	writeErr  error         // why writing failed; set before writeDone is closed
}

// errGivenUp is why a session ends that this side has given up.
var errGivenUp = errors.New("the connection was given up")

// accept is the stream's life at the accepting side. That it returns is what
// ends a reader or writer that still waits for the stream.
func (s *Server) accept(stream grpc.ServerStream) error {
	in, err := s.admit(stream)
	if err != nil {
		return err
	}
	if err := stream.SendHeader(metadata.Pairs(keyProtocol, protocol)); err != nil {
		close(in.readDone)
		s.dismiss(in)
		return err
	}
	s.tasks.Go(func() {
		defer close(in.readDone)
		in.cause = in.read(stream)
	})
	s.tasks.Go(func() {
		defer close(in.writeDone)
		in.writeErr = in.out.write(func(frame []byte) error { return stream.SendMsg(&frame) })
	})
	var cause error
	select {
	case <-in.halted:
	case <-in.readDone:
		// The caller has said all, and takes what is left of the answers; or the
		// connection broke, and writing fails.
		cause = in.cause
		in.out.close()
		select {
		case <-in.writeDone:
		case <-in.halted:
		}
	case <-in.writeDone:
		cause = in.writeErr
	}
	if in.isHalted() { // what else has ended did so because of that
		cause = errGivenUp
	}
	in.out.close()
	if s.dismiss(in) && cause != nil && !s.isClosed() {
		s.log.Info("connection lost", "from", in.process, "cause", plain(cause))
		s.watches.fire(in.process, fmt.Errorf("connection from %s: %w", in.process, plain(cause)))
	}
	if cause == errGivenUp {
		return status.Error(codes.Aborted, cause.Error())
	}
	return nil // finished, or nobody is there to be told
}

// admit checks who calls and makes its session the current one.
func (s *Server) admit(stream grpc.ServerStream) (*session, error) {
	md, _ := metadata.FromIncomingContext(stream.Context())
	one := func(key string) string {
		if values := md.Get(key); len(values) == 1 {
			return values[0]
		}
		return ""
	}
	in := &session{
		server: s, process: one(keyProcess), key: one(keyInstance) + " " + one(keyCallee), out: newOutbox(),
		halted: make(chan struct{}), readDone: make(chan struct{}), writeDone: make(chan struct{}),
	}
	if theirs := one(keyProtocol); theirs != protocol {
		s.log.Warn("caller refused", "from", in.process, "protocol", theirs, "want", protocol)
		return nil, status.Errorf(codes.FailedPrecondition, "process %s speaks protocol %q, the caller %q", s.self, protocol, theirs)
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, status.Errorf(codes.Unavailable, "process %s ends", s.self)
	}
	older := s.sessions[in.key]
	s.sessions[in.key] = in
	s.mu.Unlock()
	if older != nil {
		older.halt()
		<-older.readDone
	}
	s.log.Debug("connection accepted", "from", in.process)
	return in, nil
}

// dismiss takes the session out of the table. It reports whether it was the
// caller's current one.
func (s *Server) dismiss(in *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[in.key] != in {
		return false
	}
	delete(s.sessions, in.key)
	return true
}

// halt ends the session without sending what is queued.
func (in *session) halt() { in.haltOnce.Do(func() { close(in.halted) }) }

func (in *session) isHalted() bool {
	select {
	case <-in.halted:
		return true
	default:
		return false
	}
}

// finish sends what is queued and then ends the session.
func (in *session) finish() { in.out.close() }

// read delivers calls until the stream ends.
func (in *session) read(stream grpc.ServerStream) error {
	for {
		var data []byte
		if err := stream.RecvMsg(&data); err != nil {
			return err
		}
		f, err := decodeFrame(data)
		if err == nil && f.kind != frameCall {
			err = fmt.Errorf("frame of kind %d, where only calls are expected", f.kind)
		}
		if err != nil {
			in.server.log.Warn("connection given up", "from", in.process, "cause", err)
			in.halt()
			return err
		}
		if in.isHalted() {
			return nil
		}
		c := Call{Method: f.method, Fence: f.fence, Timeout: f.timeout}
		decode := func(req proto.Message) error { return decodeMessage("request", f.method, f.payload, req) }
		in.server.endpoints.deliver(f.endpoint, c, decode, func(resp proto.Message, err error) {
			in.answer(f.id, f.method, resp, err)
		})
	}
}

// answer queues the answer to a call; once the session has ended nobody waits
// for it.
func (in *session) answer(id uint64, method string, resp proto.Message, err error) {
	var frame []byte
	if err == nil {
		frame, err = appendMessage(appendAnswer(nil, id, codeOK, ""), "answer", method, resp)
	}
	if err != nil {
		c, text := encodeError(err)
		frame = appendAnswer(nil, id, c, text)
	}
	if !in.out.put(outgoing{frame: frame}) && !in.out.isClosed() {
		in.server.log.Warn("connection given up", "from", in.process, "cause", "it does not read its answers", "bytes", maxQueued)
		in.halt()
	}
}
