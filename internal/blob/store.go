package blob

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var (
	// ErrNotFound: the store has no blob of that name.
	ErrNotFound = errors.New("no such blob")
	// ErrCorrupt: the bytes are not the ones the name stands for.
	ErrCorrupt = errors.New("blob is corrupt")
)

// A Store keeps blobs in a directory of its own, one file each, named by its
// hash. A file under construction is called incoming-… and has no other name,
// so a crash leaves at most such files, which the next NewStore removes. Files
// are executable, because most of them are programs. One process at a time has a
// store; its methods may be called from any goroutine, and all of them block on
// the disk.
type Store struct{ dir string }

const incoming = "incoming-"

// NewStore opens the store in dir, which is made if need be.
func NewStore(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make blob store: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open blob store: %w", err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), incoming) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
			return nil, fmt.Errorf("clean blob store: %w", err)
		}
	}
	return &Store{dir: dir}, nil
}

// Path is where the blob's file is, or would be.
func (s *Store) Path(h Hash) string { return filepath.Join(s.dir, h.String()) }

// Put keeps all that r gives and returns its name and size. The blob is durable
// when Put returns; on error nothing is kept.
func (s *Store) Put(r io.Reader) (Hash, int64, error) {
	w, err := s.create()
	if err != nil {
		return Hash{}, 0, err
	}
	if _, err := io.Copy(w, r); err != nil {
		return Hash{}, 0, fmt.Errorf("put blob: %w", errors.Join(err, w.abort()))
	}
	h, size := w.sum(), w.size
	if err := w.commit(); err != nil {
		return Hash{}, 0, err
	}
	return h, size, nil
}

// Link takes the file at path, which must hold the blob of that name and never
// change, without copying it where the file system can, and otherwise with Put.
// Whoever fetches the blob finds out if the file is another one.
func (s *Store) Link(path string, h Hash) (err error) {
	if err := os.Link(path, s.Path(h)); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("put blob: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	got, _, err := s.Put(f)
	if err == nil && got != h {
		return errors.Join(fmt.Errorf("put blob: %s has the hash %s, expected was %s", path, got, h), s.Delete(got))
	}
	return err
}

// Has reports whether the store has the blob.
func (s *Store) Has(h Hash) bool {
	info, err := os.Stat(s.Path(h))
	return err == nil && info.Mode().IsRegular()
}

// Open gives the blob's bytes. The last read fails with ErrCorrupt, instead of
// giving io.EOF, if they are not the ones its name stands for.
func (s *Store) Open(h Hash) (io.ReadCloser, error) {
	f, err := s.open(h)
	if err != nil {
		return nil, err
	}
	return &verifier{file: f, want: h, sha: sha256.New()}, nil
}

func (s *Store) open(h Hash) (*os.File, error) {
	f, err := os.Open(s.Path(h))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open blob %s: %w", h, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", h, err)
	}
	return f, nil
}

// Verify reads the whole blob and returns nil, ErrNotFound or ErrCorrupt.
func (s *Store) Verify(h Hash) error {
	r, err := s.Open(h)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}

// Delete removes the blob. Deleting what is not there does nothing.
func (s *Store) Delete(h Hash) error {
	if err := os.Remove(s.Path(h)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete blob %s: %w", h, err)
	}
	return nil
}

// List gives the names of all blobs, sorted.
func (s *Store) List() ([]Hash, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("list blobs: %w", err)
	}
	var all []Hash
	for _, entry := range entries {
		if h, err := ParseHash(entry.Name()); err == nil {
			all = append(all, h)
		}
	}
	return all, nil
}

// chunk reads up to limit bytes at offset and tells the blob's size.
func (s *Store) chunk(h Hash, offset int64, limit int) (data []byte, size int64, err error) {
	f, err := s.open(h)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("read blob %s: %w", h, err)
	}
	size = info.Size()
	if offset > size {
		return nil, 0, fmt.Errorf("read blob %s: offset %d is beyond its %d bytes", h, offset, size)
	}
	data = make([]byte, min(int64(limit), size-offset))
	if _, err := f.ReadAt(data, offset); err != nil && err != io.EOF {
		return nil, 0, fmt.Errorf("read blob %s at %d: %w", h, offset, err)
	}
	return data, size, nil
}

// verifier reads a blob and holds its hash against its name.
type verifier struct {
	file *os.File
	want Hash
	sha  hash.Hash
}

func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.file.Read(p)
	v.sha.Write(p[:n])
	if err == io.EOF {
		if got := Hash(v.sha.Sum(nil)); got != v.want {
			return n, fmt.Errorf("read blob %s: its bytes have the hash %s: %w", v.want, got, ErrCorrupt)
		}
	}
	return n, err
}

func (v *verifier) Close() error { return v.file.Close() }

// A writer is a blob under construction. It ends with commit or abort.
type writer struct {
	store *Store
	file  *os.File
	sha   hash.Hash
	size  int64
}

func (s *Store) create() (*writer, error) {
	f, err := os.CreateTemp(s.dir, incoming)
	if err != nil {
		return nil, fmt.Errorf("put blob: %w", err)
	}
	return &writer{store: s, file: f, sha: sha256.New()}, nil
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	w.sha.Write(p[:n])
	w.size += int64(n)
	return n, err
}

func (w *writer) sum() Hash { return Hash(w.sha.Sum(nil)) }

// commit makes the bytes durable and then gives them their name, over an older
// file of the same. On error no file under construction is left.
func (w *writer) commit() error {
	to := w.store.Path(w.sum())
	err := errors.Join(w.file.Chmod(0o700), w.file.Sync())
	if err != nil {
		return fmt.Errorf("put blob: %w", errors.Join(err, w.abort()))
	}
	if err := w.file.Close(); err != nil {
		return fmt.Errorf("put blob: %w", errors.Join(err, os.Remove(w.file.Name())))
	}
	if err := os.Rename(w.file.Name(), to); err != nil {
		return fmt.Errorf("put blob: %w", errors.Join(err, os.Remove(w.file.Name())))
	}
	return syncDir(w.store.dir)
}

// abort forgets what was written.
func (w *writer) abort() error {
	return errors.Join(w.file.Close(), os.Remove(w.file.Name()))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync blob store: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync blob store: %w", err)
	}
	return nil
}
