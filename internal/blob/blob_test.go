package blob

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// someBytes makes n bytes that repeat nowhere, the same in each run.
func someBytes(n int) []byte {
	data := make([]byte, n)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(data)
	return data
}

func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := NewStore(filepath.Join(t.TempDir(), "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *Store, data []byte) Hash {
	t.Helper()
	h, size, err := s.Put(bytes.NewReader(data))
	if err != nil || size != int64(len(data)) || h != sha256.Sum256(data) {
		t.Fatalf("put %d bytes: %s, %d, %v", len(data), h, size, err)
	}
	return h
}

// wantFiles checks that the store's directory holds these blobs and nothing else.
func wantFiles(t *testing.T, s *Store, want ...Hash) {
	t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(want) {
		t.Errorf("files %v, want %v", entries, want)
	}
	for _, h := range want {
		if !s.Has(h) {
			t.Errorf("%s is missing", h)
		}
	}
}

func TestStore(t *testing.T) {
	s := newStore(t)
	for _, n := range []int{0, 1, 100_000} {
		data := someBytes(n)
		h := put(t, s, data)
		put(t, s, data) // twice is once
		r, err := s.Open(h)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes came back as %d, %v", n, len(got), err)
		}
	}
	all, err := s.List()
	if err != nil || len(all) != 3 {
		t.Fatalf("list: %v, %v", all, err)
	}
	wantFiles(t, s, all...)
	for _, h := range append(all, all...) {
		if err := s.Delete(h); err != nil {
			t.Error(err)
		}
	}
	wantFiles(t, s)
	if _, err := s.Open(all[0]); !errors.Is(err, ErrNotFound) {
		t.Errorf("open what was deleted: %v", err)
	}
}

func TestStoreNoticesCorruption(t *testing.T) {
	s := newStore(t)
	h := put(t, s, someBytes(1000))
	if err := os.Truncate(s.Path(h), 999); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(h); !errors.Is(err, ErrCorrupt) {
		t.Errorf("verify: %v", err)
	}
	put(t, s, someBytes(1000)) // repairs it
	if err := s.Verify(h); err != nil {
		t.Errorf("verify: %v", err)
	}
}

func TestFailedPutLeavesNothing(t *testing.T) {
	s := newStore(t)
	broken := errors.New("the upload broke")
	_, _, err := s.Put(io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("put: %v", err)
	}
	wantFiles(t, s)
}

func TestNewStoreRemovesWhatACrashLeft(t *testing.T) {
	s := newStore(t)
	h := put(t, s, someBytes(10))
	if err := os.WriteFile(filepath.Join(s.dir, incoming+"123"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewStore(s.dir); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, s, h)
}

// net is a process that serves blobs and one that fetches them.
type net struct {
	server, client         *rpc.MemorySystem
	serverLoop, clientLoop *actor.Real
	fetcher                *Fetcher // used only on clientLoop
}

func newNet(t *testing.T, to *Store) *net {
	memory := rpc.NewMemory()
	n := &net{
		server: memory.System("server"), client: memory.System("client"),
		serverLoop: actor.Start("server"), clientLoop: actor.Start("client"),
	}
	n.fetcher = NewFetcher(n.client, n.clientLoop, to)
	t.Cleanup(func() {
		n.server.Close()
		n.client.Close()
		n.serverLoop.Close()
		n.clientLoop.Close()
	})
	return n
}

type outcome struct {
	path string
	err  error
}

// start asks for a blob some times at once.
func (n *net) start(h Hash, times int) <-chan outcome {
	ends := make(chan outcome, times)
	n.clientLoop.Post(func() {
		for range times {
			n.fetcher.Fetch(n.server.Self(), h, func(path string, err error) { ends <- outcome{path, err} })
		}
	})
	return ends
}

func (n *net) fetch(h Hash) (string, error) {
	end := <-n.start(h, 1)
	return end.path, end.err
}

// lie serves what answer makes of each request.
func (n *net) lie(answer func(*pb.ReadBlobRequest) (*pb.ReadBlobResponse, error)) {
	mux := &rpc.Mux{}
	rpc.Handle(mux, gateway.ReadBlob, func(q *pb.ReadBlobRequest, reply func(*pb.ReadBlobResponse, error)) { reply(answer(q)) })
	n.server.Serve(gateway.Blob, n.serverLoop, mux)
}

func TestFetch(t *testing.T) {
	from, to := newStore(t), newStore(t)
	n := newNet(t, to)
	Serve(n.server, n.serverLoop, from)
	var all []Hash
	for _, size := range []int{0, 1, MaxChunk, MaxChunk + 1, 3*MaxChunk - 1} {
		data := someBytes(size)
		h := put(t, from, data)
		all = append(all, h)
		path, err := n.fetch(h)
		if err != nil {
			t.Fatalf("fetch %d bytes: %v", size, err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes came as %d, %v", size, len(got), err)
		}
	}
	n.clientLoop.Close()
	wantFiles(t, to, all...)
}

func TestFetchedProgramRuns(t *testing.T) {
	from, to := newStore(t), newStore(t)
	n := newNet(t, to)
	Serve(n.server, n.serverLoop, from)
	path, err := n.fetch(put(t, from, []byte("#!/bin/sh\necho it runs\n")))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path).CombinedOutput()
	if err != nil || string(out) != "it runs\n" {
		t.Errorf("%s, %v", out, err)
	}
}

// Many who want a blob at once cause one transfer; later ones cause none.
func TestFetchOnce(t *testing.T) {
	data := someBytes(100)
	h := Hash(sha256.Sum256(data))
	to := newStore(t)
	n := newNet(t, to)
	requests := 0 // touched only on serverLoop
	n.lie(func(q *pb.ReadBlobRequest) (*pb.ReadBlobResponse, error) {
		requests++
		return &pb.ReadBlobResponse{Data: data[q.Offset:min(int(q.Offset)+50, len(data))], Size: 100}, nil
	})
	for range 2 {
		ends := n.start(h, 10)
		for range 10 {
			if end := <-ends; end.err != nil || end.path != to.Path(h) {
				t.Error(end)
			}
		}
	}
	if got, _ := actor.Query(t.Context(), n.serverLoop, func() int { return requests }); got != 2 {
		t.Errorf("%d requests for 2 chunks", got)
	}
	// A file that was damaged meanwhile is noticed by the next process's fetcher.
	if err := os.WriteFile(to.Path(h), []byte("damaged"), 0o700); err != nil {
		t.Fatal(err)
	}
	n.fetcher = NewFetcher(n.client, n.clientLoop, to)
	if _, err := n.fetch(h); err != nil || to.Verify(h) != nil {
		t.Errorf("after damage: %v, %v", err, to.Verify(h))
	}
}

func TestFailedFetchLeavesNothing(t *testing.T) {
	data := someBytes(100)
	h := Hash(sha256.Sum256(data))
	for name, c := range map[string]struct {
		answer func(*pb.ReadBlobRequest) (*pb.ReadBlobResponse, error)
		want   string
	}{
		"other bytes": {func(*pb.ReadBlobRequest) (*pb.ReadBlobResponse, error) {
			return &pb.ReadBlobResponse{Data: someBytes(99), Size: 99}, nil
		}, "the 99 bytes that came have the hash "},
		"truncated": {func(q *pb.ReadBlobRequest) (*pb.ReadBlobResponse, error) {
			return &pb.ReadBlobResponse{Data: data[q.Offset:60], Size: 100}, nil
		}, "it ends after 60 of 100 bytes"},
		"growing": {func(q *pb.ReadBlobRequest) (*pb.ReadBlobResponse, error) {
			return &pb.ReadBlobResponse{Data: data[:10], Size: 100 + q.Offset}, nil
		}, "its size changed from 100 to 110 bytes"},
		"too long": {func(q *pb.ReadBlobRequest) (*pb.ReadBlobResponse, error) {
			return &pb.ReadBlobResponse{Data: data, Size: 50}, nil
		}, "got 100 bytes of a blob of 50"},
		"refused": {func(*pb.ReadBlobRequest) (*pb.ReadBlobResponse, error) {
			return nil, rpc.Refuse("not kept here")
		}, "not kept here"},
	} {
		t.Run(name, func(t *testing.T) {
			to := newStore(t)
			n := newNet(t, to)
			n.lie(c.answer)
			path, err := n.fetch(h)
			if err == nil || path != "" || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "fetch blob "+h.String()+" from mem:server") {
				t.Errorf("path %q, error %v", path, err)
			}
			n.clientLoop.Post(n.clientLoop.Stop)
			n.clientLoop.Close() // waits for the removal
			wantFiles(t, to)
		})
	}
}

// A server that is away for a moment is asked again; one that stays away is not
// waited for.
func TestFetchRetries(t *testing.T) {
	for _, back := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			data := someBytes(100)
			to := newStore(t)
			n := newNet(t, to)
			asked := 0
			n.lie(func(*pb.ReadBlobRequest) (*pb.ReadBlobResponse, error) {
				asked++
				if back && asked == attempts {
					return &pb.ReadBlobResponse{Data: data, Size: 100}, nil
				}
				return nil, rpc.ErrUnreachable
			})
			_, err := n.fetch(sha256.Sum256(data))
			if back && err != nil || !back && !errors.Is(err, rpc.ErrUnreachable) {
				t.Errorf("comes back: %t, error %v", back, err)
			}
		})
	}
}

func TestStopEndsFetches(t *testing.T) {
	to := newStore(t)
	n := newNet(t, to)
	asked := make(chan func(*pb.ReadBlobResponse, error), 1)
	mux := &rpc.Mux{}
	rpc.Handle(mux, gateway.ReadBlob, func(_ *pb.ReadBlobRequest, reply func(*pb.ReadBlobResponse, error)) { asked <- reply })
	n.server.Serve(gateway.Blob, n.serverLoop, mux)
	ends := n.start(Hash{1}, 2)
	reply := <-asked
	n.clientLoop.Post(n.fetcher.Stop)
	for range 2 {
		if end := <-ends; !errors.Is(end.err, ErrStopped) {
			t.Error(end)
		}
	}
	if _, err := n.fetch(Hash{2}); !errors.Is(err, ErrStopped) {
		t.Errorf("fetch after Stop: %v", err)
	}
	n.serverLoop.Post(func() { reply(&pb.ReadBlobResponse{}, nil) })
	if _, err := actor.Query(t.Context(), n.serverLoop, func() int { return 0 }); err != nil {
		t.Fatal(err)
	}
	if _, err := actor.Query(t.Context(), n.clientLoop, func() int { return 0 }); err != nil {
		t.Fatal(err)
	}
	n.clientLoop.Close()
	wantFiles(t, to)
}

func TestServerRefuses(t *testing.T) {
	n := newNet(t, newStore(t))
	store := newStore(t)
	Serve(n.server, n.serverLoop, store)
	h := put(t, store, []byte("blob"))
	for want, q := range map[string]*pb.ReadBlobRequest{
		"blob name: want 64 hexadecimal digits, got 9 characters": {Sha256: "../passwd"},
		"blob name \"zz":        {Sha256: strings.Repeat("z", 64)},
		"is not kept here":      {Sha256: Hash{}.String()},
		"offset -1":             {Sha256: h.String(), Offset: -1},
		"max_bytes -5":          {Sha256: h.String(), MaxBytes: -5},
		"is beyond its 4 bytes": {Sha256: h.String(), Offset: 5},
		"":                      {Sha256: h.String(), Offset: 4, MaxBytes: 1 << 30},
	} {
		done := make(chan error, 1)
		resp := &pb.ReadBlobResponse{}
		n.client.Call(n.clientLoop, rpc.Address{Process: n.server.Self(), Endpoint: gateway.Blob},
			rpc.Call{Method: gateway.ReadBlob.Name, Request: q}, resp, func(err error) { done <- err })
		err := <-done
		var refused *rpc.RefusedError
		switch {
		case want == "" && (err != nil || resp.Size != 4 || len(resp.Data) != 0):
			t.Errorf("at the end: %v, %v", resp, err)
		case want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), want)):
			t.Errorf("%v: %v", q, err)
		}
	}
}

// More callers than readers all get their chunk.
func TestServerQueues(t *testing.T) {
	n := newNet(t, newStore(t))
	store := newStore(t)
	Serve(n.server, n.serverLoop, store)
	h := put(t, store, someBytes(10_000))
	const callers = 5 * readers
	done := make(chan error, callers)
	for range callers {
		resp := &pb.ReadBlobResponse{}
		n.client.Call(n.clientLoop, rpc.Address{Process: n.server.Self(), Endpoint: gateway.Blob},
			rpc.Call{Method: gateway.ReadBlob.Name, Request: &pb.ReadBlobRequest{Sha256: h.String()}}, resp, func(err error) { done <- err })
	}
	for range callers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add(strings.Repeat("0f", 32))
	f.Add("../../etc/passwd")
	f.Add(strings.Repeat("A", 64))
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseHash(text)
		if err == nil && h.String() != strings.ToLower(text) {
			t.Errorf("%q parsed as %s", text, h)
		}
	})
}
