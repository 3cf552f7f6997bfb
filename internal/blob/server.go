package blob

import (
	"errors"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// MaxChunk is the most bytes one answer carries.
const MaxChunk = 4 << 20

// readers is how many chunks are read at once; other requests wait their turn,
// so that many TaskManagers that want one artifact do not fill the memory.
const readers = 8

// Serve answers gateway.ReadBlob from the store, as the endpoint gateway.Blob
// of the system, until that is withdrawn. Files are read beside the loop.
func Serve(sys rpc.System, loop actor.Loop, store *Store) {
	s := &server{loop: loop, store: store}
	mux := &rpc.Mux{}
	rpc.Handle(mux, gateway.ReadBlob, s.read)
	sys.Serve(gateway.Blob, loop, mux)
}

// A server's fields are touched only on its loop.
type server struct {
	loop    actor.Loop
	store   *Store
	reading int
	// waiting has no bound of its own: each caller waits for an answer before
	// it asks for the next chunk, and has a deadline.
	waiting []func()
}

// read answers with the bytes at an offset: all that is left, or max_bytes, or
// MaxChunk, whichever is least. At the end of the blob they are none.
func (s *server) read(q *pb.ReadBlobRequest, reply func(*pb.ReadBlobResponse, error)) {
	h, err := ParseHash(q.Sha256)
	if err != nil {
		reply(nil, rpc.Refuse("%v", err))
		return
	}
	if q.Offset < 0 || q.MaxBytes < 0 {
		reply(nil, rpc.Refuse("read blob %s: offset %d and max_bytes %d must not be negative", h, q.Offset, q.MaxBytes))
		return
	}
	limit := MaxChunk
	if q.MaxBytes > 0 {
		limit = min(limit, int(q.MaxBytes))
	}
	s.enqueue(func() {
		var answer pb.ReadBlobResponse
		var err error
		s.loop.Go(func() { answer.Data, answer.Size, err = s.store.chunk(h, q.Offset, limit) }, func() {
			s.dequeue()
			if errors.Is(err, ErrNotFound) {
				err = rpc.Refuse("blob %s is not kept here", h)
			}
			if err != nil {
				reply(nil, err)
				return
			}
			reply(&answer, nil)
		})
	})
}

func (s *server) enqueue(start func()) {
	if s.reading == readers {
		s.waiting = append(s.waiting, start)
		return
	}
	s.reading++
	start()
}

func (s *server) dequeue() {
	if len(s.waiting) == 0 {
		s.reading--
		return
	}
	next := s.waiting[0]
	s.waiting = s.waiting[1:]
	next()
}
