package spill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/weirstream/weir/internal/fs/scratch"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/shuffle"
)

const (
	// firstRoom is how much a write buffer has at first; it doubles up to its
	// limit.
	firstRoom = 64 << 10
	// stageRoom is how much is put together for one write. What is longer in
	// one piece is written as it is.
	stageRoom = 256 << 10
)

// A Writer writes one file. One goroutine uses it; only Discard may be called
// from another.
type Writer struct {
	file    scratch.File
	limit   int // of buf
	sizes   shuffle.Sizes
	regions []int64 // where the index of each begins
	at      int64   // size of the file
	failed  error

	buf    []byte // blocks in the order they came
	blocks []piece
	last   int   // size of the last block
	starts []int // by subpartition, while a region is written
	order  []piece
	stage  []byte
}

// A piece is a block's place in the buffer.
type piece struct {
	sub        int
	start, end int
}

// NewWriter makes a file for so many subpartitions, which must be at least one.
// It gathers up to buffer bytes; a single block may take more.
func NewWriter(space scratch.Space, name string, subpartitions, buffer int) (*Writer, error) {
	invariant.Check(subpartitions > 0, "a file of %d subpartitions", subpartitions)
	file, err := space.Create(name)
	if err != nil {
		return nil, err
	}
	return &Writer{
		file: file, limit: buffer,
		sizes: shuffle.Sizes{Records: make([]int64, subpartitions), Bytes: make([]int64, subpartitions)},
	}, nil
}

// Begin gives a slice after which one encoded batch is to be appended, and the
// result given to End. The batch may be dropped instead.
func (w *Writer) Begin() ([]byte, error) {
	if w.failed != nil {
		return nil, w.failed
	}
	if len(w.buf)+max(headerSize, w.last) > w.limit && len(w.blocks) > 0 {
		if err := w.flush(); err != nil {
			return nil, err
		}
	}
	if need := len(w.buf) + max(firstRoom, w.last); need > cap(w.buf) {
		grown := make([]byte, len(w.buf), max(firstRoom, min(max(need, 2*cap(w.buf)), w.limit+firstRoom)))
		copy(grown, w.buf)
		w.buf = grown
	}
	return w.buf[:len(w.buf)+headerSize], nil
}

// End adds the batch of so many records that was appended to what Begin gave.
func (w *Writer) End(sub, records int, out []byte) error {
	start := len(w.buf)
	size := len(out) - start
	if n := size - headerSize; n <= 0 || n > maxBlock {
		return fmt.Errorf("encode a batch of %d records: %d bytes, want 1 to %d", records, n, maxBlock)
	}
	seal(out[start:], sub, records)
	w.buf, w.last = out, size
	w.blocks = append(w.blocks, piece{sub, start, len(out)})
	w.sizes.Records[sub] += int64(records)
	w.sizes.Bytes[sub] += int64(size - headerSize)
	return nil
}

// flush writes what is gathered as a region.
func (w *Writer) flush() error {
	region := len(w.regions)
	w.cluster()
	index := make([]byte, 0, entrySize*(len(w.starts)+1))
	w.stage = w.stage[:0]
	at, sub := w.at, 0
	for i := 0; i < len(w.order); {
		run := w.order[i]
		for ; sub <= run.sub; sub++ {
			index = appendEntry(index, region, sub, at)
		}
		for i++; i < len(w.order) && w.order[i].sub == run.sub && w.order[i].start == run.end; i++ {
			run.end = w.order[i].end
		}
		at += int64(run.end - run.start)
		if err := w.put(w.buf[run.start:run.end]); err != nil {
			return err
		}
	}
	for ; sub <= len(w.starts); sub++ {
		index = appendEntry(index, region, sub, at)
	}
	w.regions = append(w.regions, at)
	if err := w.put(index); err != nil {
		return err
	}
	if err := w.write(w.stage); err != nil {
		return err
	}
	w.stage, w.blocks = w.stage[:0], w.blocks[:0]
	if w.buf = w.buf[:0]; cap(w.buf) > 2*w.limit+firstRoom {
		w.buf = nil // one huge batch should not hold its room for ever
	}
	return nil
}

// cluster sorts the blocks by subpartition and keeps their order in each.
func (w *Writer) cluster() {
	if w.starts == nil {
		w.starts = make([]int, len(w.sizes.Bytes))
	}
	clear(w.starts)
	for _, b := range w.blocks {
		w.starts[b.sub]++
	}
	sum := 0
	for sub, n := range w.starts {
		w.starts[sub] = sum
		sum += n
	}
	if cap(w.order) < len(w.blocks) {
		w.order = make([]piece, len(w.blocks), cap(w.blocks))
	}
	w.order = w.order[:len(w.blocks)]
	for _, b := range w.blocks {
		w.order[w.starts[b.sub]] = b
		w.starts[b.sub]++
	}
}

// put writes b, or stages it if it is short.
func (w *Writer) put(b []byte) error {
	if len(w.stage)+len(b) > stageRoom {
		if err := w.write(w.stage); err != nil {
			return err
		}
		w.stage = w.stage[:0]
	}
	if len(b) >= stageRoom {
		return w.write(b)
	}
	if w.stage == nil {
		w.stage = make([]byte, 0, stageRoom)
	}
	w.stage = append(w.stage, b...)
	return nil
}

// write appends b to the file. A file that cannot be written is discarded at
// once: others may need the space.
func (w *Writer) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	n, err := w.file.Write(b)
	if err == nil && n != len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.failed = &writeError{path: w.file.Name(), bytes: len(b), at: w.at, written: n, err: bare(err)}
		w.drop()
		_ = w.file.Discard() // the error of the write says more
		return w.failed
	}
	w.at += int64(n)
	return nil
}

// A writeError is why a file could not be written. Without the file and the sizes
// the operating system's words would say little, so it has a Timeout as errors of
// the operating system have: it stays whole where causes are taken apart.
type writeError struct {
	path           string
	bytes, written int
	at             int64
	err            error
}

func (e *writeError) Error() string {
	return fmt.Sprintf("write %d bytes to %s after %d bytes, %d of them were written: %v", e.bytes, e.path, e.at, e.written, e.err)
}

// Unwrap gives the operating system's error.
func (e *writeError) Unwrap() error { return e.err }

// Timeout reports that it is no matter of time.
func (e *writeError) Timeout() bool { return false }

// bare takes the path off an error that will be told with it.
func bare(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Finish writes what is gathered and makes the file readable. The Writer is of
// no use afterwards.
func (w *Writer) Finish() (*Data, error) {
	if w.failed == nil && len(w.blocks) > 0 {
		_ = w.flush() // sets failed
	}
	if w.failed != nil {
		return nil, w.failed
	}
	w.drop()
	return &Data{file: w.file, regions: w.regions, sizes: w.sizes}, nil
}

// drop lets the memory go.
func (w *Writer) drop() {
	w.buf, w.blocks, w.order, w.stage, w.starts = nil, nil, nil, nil, nil
}

// Discard gives up the file, from any goroutine.
func (w *Writer) Discard() error { return w.file.Discard() }
