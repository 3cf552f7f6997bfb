package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/element"
	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/local"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// live counts the batches that were made and not released.
var live atomic.Int64

// numbers is a batch of numbers with padding, that notices a second release.
type numbers struct {
	vals     []int64
	padding  int
	released atomic.Bool
}

func newNumbers(padding int, vals ...int64) *numbers {
	live.Add(1)
	return &numbers{vals: vals, padding: padding}
}

func (n *numbers) Len() int { return len(n.vals) }

func (n *numbers) Release() {
	if n.released.Swap(true) {
		panic("batch released twice")
	}
	live.Add(-1)
}

type numbersSerializer struct{}

func newNumbersSerializer() shuffle.Serializer { return numbersSerializer{} }

var errPoison = errors.New("this batch cannot be encoded")

func (numbersSerializer) Append(dst []byte, b batch.Batch) ([]byte, error) {
	n := b.(*numbers)
	if n.padding < 0 {
		return nil, errPoison
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(n.vals)))
	for _, v := range n.vals {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
	}
	return append(dst, make([]byte, n.padding)...), nil
}

func (numbersSerializer) Decode(src []byte) (batch.Batch, error) {
	if len(src) < 4 || uint64(len(src)-4) < 8*uint64(binary.LittleEndian.Uint32(src)) {
		return nil, fmt.Errorf("%d bytes are too few", len(src))
	}
	n := newNumbers(0)
	for i := range int(binary.LittleEndian.Uint32(src)) {
		n.vals = append(n.vals, int64(binary.LittleEndian.Uint64(src[4+8*i:])))
	}
	return n, nil
}

// memory is a Space in memory whose files can be made to fail, and damaged.
type memory struct {
	mu    sync.Mutex
	files map[string]*memoryFile
	room  int64 // bytes all files may have; 0: any
	short bool  // a write that does not fit says nothing
	slow  func()
}

func newMemory() *memory { return &memory{files: map[string]*memoryFile{}} }

var errFull = errors.New("no space left on device")

// Directory is for whoever needs more than files, which partitions do not.
func (m *memory) Directory(string) (string, error) {
	return "", errors.New("there are no directories in memory")
}

func (m *memory) Create(name string) (scratch.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &memoryFile{space: m, name: fmt.Sprintf("/disk/%s-%d", name, len(m.files))}
	m.files[f.name] = f
	return f, nil
}

// used is how many bytes the files have.
func (m *memory) used() (n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.files {
		n += int64(len(f.data))
	}
	return n
}

// only is the one file.
func (m *memory) only(t testing.TB) *memoryFile {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.files) != 1 {
		t.Fatalf("%d files, want 1", len(m.files))
	}
	for _, f := range m.files {
		return f
	}
	return nil
}

type memoryFile struct {
	space  *memory
	name   string
	data   []byte
	closed bool
}

func (f *memoryFile) Name() string { return f.name }

func (f *memoryFile) Write(b []byte) (int, error) {
	used := f.space.used()
	f.space.mu.Lock()
	defer f.space.mu.Unlock()
	if f.closed {
		return 0, &os.PathError{Op: "write", Path: f.name, Err: os.ErrClosed}
	}
	if room := f.space.room; room > 0 && used+int64(len(b)) > room {
		n := max(0, int(room-used))
		f.data = append(f.data, b[:n]...)
		if f.space.short {
			return n, nil
		}
		return n, &os.PathError{Op: "write", Path: f.name, Err: errFull}
	}
	f.data = append(f.data, b...)
	return len(b), nil
}

func (f *memoryFile) ReadAt(b []byte, at int64) (int, error) {
	if f.space.slow != nil {
		f.space.slow()
	}
	f.space.mu.Lock()
	defer f.space.mu.Unlock()
	switch {
	case f.closed:
		return 0, &os.PathError{Op: "read", Path: f.name, Err: os.ErrClosed}
	case at < 0:
		return 0, &os.PathError{Op: "read", Path: f.name, Err: errors.New("negative offset")}
	case at >= int64(len(f.data)):
		return 0, io.EOF
	}
	n := copy(b, f.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memoryFile) Discard() error {
	f.space.mu.Lock()
	defer f.space.mu.Unlock()
	f.closed, f.data = true, nil
	delete(f.space.files, f.name)
	return nil
}

// replace makes the file hold other bytes.
func (f *memoryFile) replace(data []byte) {
	f.space.mu.Lock()
	f.data = data
	f.space.mu.Unlock()
}

func partitionID(n int) ident.PartitionID {
	return ident.PartitionID{Producer: ident.AttemptID{Subtask: n}}
}

// site is the blocking partitions of one process with their registry.
type site struct {
	t        testing.TB
	space    scratch.Space
	store    *Store
	registry *local.Registry
	buffer   int
}

func newSite(t testing.TB, space scratch.Space, buffer, read int) *site {
	s := &site{
		t: t, space: space, buffer: buffer,
		store:    NewStore(Settings{Space: space, FrameBytes: 32 << 10, ReadBytes: read}),
		registry: local.NewRegistry(local.Settings{Depth: 8, FrameBytes: 32 << 10, Wait: time.Minute}),
	}
	t.Cleanup(func() {
		s.registry.Close()
		s.store.Close()
		if s.store.scheduler.used != 0 {
			t.Errorf("%d bytes of read buffers were not given back", s.store.scheduler.used)
		}
		if n := live.Swap(0); n != 0 {
			t.Errorf("%d batches were not released", n)
		}
		if m, ok := space.(*memory); ok && len(m.files) > 0 {
			t.Errorf("%d files are left", len(m.files))
		}
	})
	return s
}

func (s *site) create(id, subpartitions int) *Partition {
	s.t.Helper()
	p, err := s.store.Create(partitionID(id), subpartitions, s.buffer, newNumbersSerializer, nil, nil)
	if err == nil {
		err = s.registry.Add(p, true)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// reader is a gate with the goroutine's side of the wake protocol.
type reader struct {
	*local.Gate
	woken chan struct{}
}

// reader makes a gate of one channel for each range of one partition.
func (s *site) reader(id int, ranges ...shuffle.Range) *reader {
	r := &reader{woken: make(chan struct{}, 1)}
	r.Gate = local.NewGate(len(ranges), func() {
		select {
		case r.woken <- struct{}{}:
		default:
		}
	}, nil)
	for i, subs := range ranges {
		r.Connect(i, s.registry, partitionID(id), subs)
	}
	return r
}

// next waits for the next element.
func (r *reader) next() (int, element.Element, error) {
	for {
		ch, e, ok, err := r.Poll()
		if ok || err != nil {
			return ch, e, err
		}
		<-r.woken
	}
}

// story is what was written to a partition.
type story struct {
	numbers   [][]int64 // by subpartition, in order
	watermark int64
}

// write writes batches of random sizes to random consumers.
func write(p *Partition, r *rand.Rand, batches, padding int) (*story, error) {
	s := &story{numbers: make([][]int64, p.Subpartitions())}
	serial := int64(0)
	for range batches {
		sub := r.IntN(p.Subpartitions())
		b := newNumbers(r.IntN(padding + 1))
		for range 1 + r.IntN(5) {
			b.vals = append(b.vals, serial)
			s.numbers[sub] = append(s.numbers[sub], serial)
			serial++
		}
		if err := p.Emit(sub, b); err != nil {
			return nil, err
		}
		if r.IntN(9) == 0 {
			s.watermark = serial
			if err := p.Control(element.Element{Kind: element.Watermark, Time: serial}); err != nil {
				return nil, err
			}
		}
	}
	if err := p.Control(element.Element{Kind: element.EndOfData}); err != nil {
		return nil, err
	}
	return s, p.Finish()
}

// check reads a gate of ranges to its end and compares.
func (s *story) check(r *reader, ranges ...shuffle.Range) error {
	got := make([]map[int64]bool, len(ranges))
	last := make([]map[int]int64, len(ranges))
	of := map[int64]int{} // the subpartition of a number
	for sub, vals := range s.numbers {
		for _, v := range vals {
			of[v] = sub
		}
	}
	for i := range ranges {
		got[i], last[i] = map[int64]bool{}, map[int]int64{}
	}
	end := make([]string, len(ranges))
	for open := len(ranges); open > 0; {
		ch, e, err := r.next()
		if err != nil {
			return err
		}
		if e.Kind != element.Data {
			end[ch] += e.Kind.String() + " "
			if e.Kind == element.Watermark && e.Time != s.watermark {
				return fmt.Errorf("watermark %d, want %d", e.Time, s.watermark)
			}
			if e.Kind == element.EndOfPartition {
				open--
			}
			continue
		}
		for _, v := range e.Batch.(*numbers).vals {
			sub, known := of[v]
			if !known || sub < ranges[ch].First || sub > ranges[ch].Last {
				return fmt.Errorf("channel of %s got %d, which is of subpartition %d", ranges[ch], v, sub)
			}
			if before, some := last[ch][sub]; some && before >= v {
				return fmt.Errorf("subpartition %d: %d after %d", sub, v, before)
			}
			last[ch][sub], got[ch][v] = v, true
		}
		e.Batch.Release()
	}
	for i, subs := range ranges {
		want := 0
		for sub := subs.First; sub <= subs.Last; sub++ {
			want += len(s.numbers[sub])
		}
		if len(got[i]) != want {
			return fmt.Errorf("channel of %s got %d numbers, want %d", subs, len(got[i]), want)
		}
		wantEnd := "EndOfData EndOfPartition "
		if s.watermark > 0 {
			wantEnd = "Watermark " + wantEnd
		}
		if end[i] != wantEnd {
			return fmt.Errorf("channel of %s ends with %s, want %s", subs, end[i], wantEnd)
		}
	}
	return nil
}

// randomRanges cuts n subpartitions.
func randomRanges(r *rand.Rand, n int) (ranges []shuffle.Range) {
	for first := 0; first < n; {
		last := min(n-1, first+r.IntN(4))
		ranges = append(ranges, shuffle.Range{First: first, Last: last})
		first = last + 1
	}
	return ranges
}
