package blob

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
)

const (
	// chunkTimeout bounds one chunk's way, also over a slow line.
	chunkTimeout = 30 * time.Second
	// attempts is how often a chunk is asked for while nobody answers; before
	// attempt n+1 the fetcher waits n times retryDelay.
	attempts   = 4
	retryDelay = 100 * time.Millisecond
)

// ErrStopped is what fetches end with that a Fetcher did not finish before its
// Stop.
var ErrStopped = errors.New("the fetcher has stopped")

// A Fetcher fills a store with blobs that other processes serve. It is used
// only on its loop.
type Fetcher struct {
	sys       rpc.System
	loop      actor.Loop
	store     *Store
	transfers map[Hash]*transfer
	verified  map[Hash]bool // blobs of the store, seen whole by this fetcher
	stopped   bool
}

// NewFetcher makes a fetcher into store.
func NewFetcher(sys rpc.System, loop actor.Loop, store *Store) *Fetcher {
	return &Fetcher{sys: sys, loop: loop, store: store, transfers: map[Hash]*transfer{}, verified: map[Hash]bool{}}
}

// A transfer is one blob on its way, with all who want it. It takes one step at
// a time: on the network, or beside the loop on the disk. Between two steps it
// is nowhere else, so the step under way owns the writer.
type transfer struct {
	fetcher *Fetcher
	from    string // the process that has it
	hash    Hash
	waiting []func(path string, err error)
	writer  *writer
	size    int64 // as told with the first chunk
	known   bool  // size is
}

// Fetch brings a blob from the process that serves it into the store, unless it
// is there, and calls then on the loop with the path of its file, which is
// executable, and verified once in each fetcher's life. Whoever asks for a blob that is on its way, from
// wherever, gets the same transfer's outcome.
func (f *Fetcher) Fetch(from string, h Hash, then func(path string, err error)) {
	if f.stopped {
		f.loop.Post(func() { then("", fmt.Errorf("fetch blob %s from %s: %w", h, from, ErrStopped)) })
		return
	}
	t := f.transfers[h]
	if t != nil {
		t.waiting = append(t.waiting, then)
		return
	}
	t = &transfer{fetcher: f, from: from, hash: h, waiting: []func(string, error){then}}
	f.transfers[h] = t
	t.begin()
}

// Stop ends all transfers; what they have written is removed once the step under
// way has ended.
func (f *Fetcher) Stop() {
	f.stopped = true
	for _, h := range slices.SortedFunc(maps.Keys(f.transfers), func(x, y Hash) int { return bytes.Compare(x[:], y[:]) }) {
		f.transfers[h].end(ErrStopped)
	}
}

// begin looks for the blob in the store and opens a file if it is not there.
func (t *transfer) begin() {
	store, verified := t.fetcher.store, t.fetcher.verified[t.hash]
	var here bool
	t.beside(func() error {
		if verified && store.Has(t.hash) {
			here = true
			return nil
		}
		switch err := store.Verify(t.hash); {
		case err == nil:
			here = true
			return nil
		case errors.Is(err, ErrCorrupt):
			if err := store.Delete(t.hash); err != nil {
				return err
			}
		case !errors.Is(err, ErrNotFound):
			return err
		}
		var err error
		t.writer, err = store.create()
		return err
	}, func() {
		if here {
			t.end(nil)
			return
		}
		t.ask(0, 1)
	})
}

// ask requests the chunk at offset.
func (t *transfer) ask(offset int64, attempt int) {
	f := t.fetcher
	to := rpc.Address{Process: t.from, Endpoint: gateway.Blob}
	req := &pb.ReadBlobRequest{Sha256: t.hash.String(), Offset: offset, MaxBytes: MaxChunk}
	gateway.ReadBlob.Call(f.sys, f.loop, to, ident.LeaderID{}, req, chunkTimeout, func(resp *pb.ReadBlobResponse, err error) {
		switch {
		case !t.isActive():
			t.discard()
		case err == nil:
			t.take(offset, resp)
		case attempt < attempts && (errors.Is(err, rpc.ErrUnreachable) || errors.Is(err, rpc.ErrTimeout)):
			f.loop.After(time.Duration(attempt)*retryDelay, func() {
				if !t.isActive() {
					t.discard()
					return
				}
				t.ask(offset, attempt+1)
			})
		default:
			t.discard()
			t.end(err)
		}
	})
}

// take writes a chunk and goes on with the next, or ends.
func (t *transfer) take(offset int64, resp *pb.ReadBlobResponse) {
	end := offset + int64(len(resp.Data))
	var wrong error
	switch {
	case t.known && resp.Size != t.size:
		wrong = fmt.Errorf("its size changed from %d to %d bytes", t.size, resp.Size)
	case end > resp.Size:
		wrong = fmt.Errorf("got %d bytes of a blob of %d", end, resp.Size)
	case end == offset && end < resp.Size:
		wrong = fmt.Errorf("it ends after %d of %d bytes", end, resp.Size)
	}
	if wrong != nil {
		t.discard()
		t.end(wrong)
		return
	}
	t.size, t.known = resp.Size, true
	last := end == t.size
	t.beside(func() error {
		if _, err := t.writer.Write(resp.Data); err != nil {
			return err
		}
		if !last {
			return nil
		}
		if got := t.writer.sum(); got != t.hash {
			return fmt.Errorf("the %d bytes that came have the hash %s: %w", t.size, got, ErrCorrupt)
		}
		w := t.writer
		t.writer = nil // commit leaves nothing behind
		return w.commit()
	}, func() {
		if last {
			t.end(nil)
			return
		}
		t.ask(end, 1)
	})
}

// beside runs work beside the loop; then, on it, the next step if work went
// well and the transfer is still wanted.
func (t *transfer) beside(work func() error, next func()) {
	var err error
	t.fetcher.loop.Go(func() { err = work() }, func() {
		switch {
		case !t.isActive():
			t.discard()
		case err != nil:
			t.discard()
			t.end(err)
		default:
			next()
		}
	})
}

// isActive reports whether somebody still waits for the transfer.
func (t *transfer) isActive() bool { return t.fetcher.transfers[t.hash] == t }

// discard removes what was written.
func (t *transfer) discard() {
	w := t.writer
	if w == nil {
		return
	}
	t.writer = nil
	// An error leaves a file that the next NewStore removes.
	t.fetcher.loop.Go(func() { w.abort() }, func() {})
}

// end tells all who wait.
func (t *transfer) end(err error) {
	delete(t.fetcher.transfers, t.hash)
	path := t.fetcher.store.Path(t.hash)
	if err != nil {
		path, err = "", fmt.Errorf("fetch blob %s from %s: %w", t.hash, t.from, err)
	} else {
		t.fetcher.verified[t.hash] = true
	}
	for _, then := range t.waiting {
		t.fetcher.loop.Post(func() { then(path, err) })
	}
	t.waiting = nil
}
