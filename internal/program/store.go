package program

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
	"uuid"
)

const (
	incoming = "incoming-"
	scratch  = "plan-"
	// maxName bounds a name, so that with its UUID and the prefix of a
	// temporary file it fits where names end at 255 bytes.
	maxName   = 180
	uuidChars = 36
)

// A Program is one uploaded program. It never changes.
type Program struct {
	ID       string // UUID_NAME: the name of its file
	Name     string
	Path     string
	Size     int64
	Uploaded time.Time
}

// A Store keeps programs in a directory. Several goroutines may use it; one
// process at a time has a directory.
type Store struct {
	dir string

	// planning has one element for each program that is being planned.
	planning chan struct{}

	mu   sync.Mutex        // guards sums; never held while a file is read
	sums map[string]string // SHA-256 by id, of programs whose hash is known
}

// maxPlanning is how many programs of a store are planned at the same time;
// those that come then wait.
const maxPlanning = 4

// Open opens the store in dir, which is made if need be, and removes what an
// earlier process left half done.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory for uploaded programs: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open the directory for uploaded programs: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), incoming) || strings.HasPrefix(e.Name(), scratch) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return nil, fmt.Errorf("clean the directory for uploaded programs: %w", err)
			}
		}
	}
	return &Store{dir: dir, planning: make(chan struct{}, maxPlanning), sums: map[string]string{}}, nil
}

// Dir is the directory.
func (s *Store) Dir() string { return s.dir }

// Upload keeps what r gives under the last element of name. It fails with a
// *RefusedError when the name or the bytes are no program's; then, as after
// any failure, nothing is kept.
func (s *Store) Upload(name string, r io.Reader) (p Program, err error) {
	if name, err = baseName(name); err != nil {
		return Program{}, err
	}
	file, err := os.CreateTemp(s.dir, incoming)
	if err != nil {
		return Program{}, fmt.Errorf("upload %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, discard(file))
		}
	}()
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, sum), r)
	if err != nil {
		return Program{}, fmt.Errorf("upload %s: %w", name, err)
	}
	if err := inspect(name, file, size); err != nil {
		return Program{}, err
	}
	if err := errors.Join(file.Chmod(0o700), file.Sync()); err != nil {
		return Program{}, fmt.Errorf("upload %s: %w", name, err)
	}
	id := uuid.New().String() + "_" + name
	path := filepath.Join(s.dir, id)
	// The file is closed before it has a name under which it can be run: what
	// is open for writing cannot be executed.
	if err := file.Close(); err != nil {
		return Program{}, fmt.Errorf("upload %s: %w", name, err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return Program{}, fmt.Errorf("upload %s: %w", name, err)
	}
	s.remember(id, hex.EncodeToString(sum.Sum(nil)))
	return s.Get(id)
}

func discard(file *os.File) error {
	if err := file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	if err := os.Remove(file.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// baseName is the last element of a name that may come from any system.
func baseName(name string) (string, error) {
	base := name[strings.LastIndexAny(name, `/\`)+1:]
	switch {
	case base == "" || base == "." || base == "..":
		return "", refuse("The file name %q names no file.", clip(name))
	case len(base) > maxName:
		return "", refuse("The file name %q is %d bytes long, at most %d are allowed.", clip(base), len(base), maxName)
	case !utf8.ValidString(base) || strings.ContainsFunc(base, unicode.IsControl):
		return "", refuse("The file name %q holds characters that cannot be shown.", clip(base))
	}
	return base, nil
}

func clip(text string) string {
	const limit = 60
	if len(text) > limit {
		return text[:limit] + "…"
	}
	return text
}

// Get finds a program; ErrNotFound when there is none with the id.
func (s *Store) Get(id string) (Program, error) {
	name, ok := nameOf(id)
	if !ok {
		return Program{}, fmt.Errorf("program %q: %w", clip(id), ErrNotFound)
	}
	path := filepath.Join(s.dir, id)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return Program{}, fmt.Errorf("program %q: %w", clip(id), ErrNotFound)
	}
	if err != nil {
		return Program{}, fmt.Errorf("program %q: %w", clip(id), err)
	}
	return Program{ID: id, Name: name, Path: path, Size: info.Size(), Uploaded: info.ModTime()}, nil
}

// nameOf splits an id. What is no id names no file of the store.
func nameOf(id string) (name string, ok bool) {
	if len(id) < uuidChars+2 || id[uuidChars] != '_' {
		return "", false
	}
	if _, err := uuid.Parse(id[:uuidChars]); err != nil {
		return "", false
	}
	name = id[uuidChars+1:]
	base, err := baseName(name)
	return name, err == nil && base == name
}

// List gives all programs, those uploaded last first.
func (s *Store) List() ([]Program, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("list the uploaded programs: %w", err)
	}
	var all []Program
	for _, e := range entries {
		if p, err := s.Get(e.Name()); err == nil {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b Program) int {
		return cmp.Or(b.Uploaded.Compare(a.Uploaded), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Delete removes a program; ErrNotFound when there is none with the id. A
// program that is being planned ends unharmed.
func (s *Store) Delete(id string) error {
	p, err := s.Get(id)
	if err != nil {
		return err
	}
	if err := os.Remove(p.Path); err != nil {
		return fmt.Errorf("delete program %q: %w", clip(id), err)
	}
	s.mu.Lock()
	delete(s.sums, id)
	s.mu.Unlock()
	return nil
}

// Sum is the SHA-256 of a program's bytes, in lower-case hexadecimal digits.
func (s *Store) Sum(p Program) (string, error) {
	s.mu.Lock()
	sum, ok := s.sums[p.ID]
	s.mu.Unlock()
	if ok {
		return sum, nil
	}
	file, err := os.Open(p.Path)
	if err != nil {
		return "", fmt.Errorf("read program %q: %w", p.ID, err)
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", fmt.Errorf("read program %q: %w", p.ID, err)
	}
	sum = hex.EncodeToString(h.Sum(nil))
	s.remember(p.ID, sum)
	return sum, nil
}

func (s *Store) remember(id, sum string) {
	s.mu.Lock()
	s.sums[id] = sum
	s.mu.Unlock()
}
