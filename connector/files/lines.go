package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"github.com/weirstream/weir/internal/coordinator/files/split"
)

// chunkBytes is how much of a file is read at once. Lines are cut from the chunk
// without being copied, so a chunk lives as long as any line of it.
const (
	chunkBytes    = 1 << 20
	minChunkBytes = 4 << 10
)

// lines gives the lines that begin in a part of a file. The line that crosses
// the part's end belongs to it whole; the one that crosses its beginning belongs
// to the part before.
type lines struct {
	file     *os.File
	name     string // of the file that is or was read last
	end      int64  // offset at which the part ends
	at       int64  // offset of chunk[from] in the file
	chunk    []byte // read up to to
	from, to int    // chunk[from:to] is not given out yet
	eof      bool
}

func (l *lines) open() bool { return l.file != nil }

func (l *lines) close() {
	if l.file != nil {
		l.file.Close()
		*l = lines{name: l.name}
	}
}

// start opens the file and finds the first line that begins in the part.
func (l *lines) start(part split.File) error {
	f, err := os.Open(part.Path)
	if err != nil {
		return fmt.Errorf("read text: %w", err)
	}
	*l = lines{file: f, name: part.Path, at: part.Offset, end: part.Offset + part.Length}
	if part.Offset == 0 {
		return nil
	}
	if !part.Exact {
		l.at-- // the byte before tells whether a line begins just at the offset
	}
	if _, err := f.Seek(l.at, io.SeekStart); err != nil {
		return fmt.Errorf("read text: %w", err)
	}
	if part.Exact {
		return nil
	}
	return l.skipLine()
}

// skipLine drops everything up to and including the next line end.
func (l *lines) skipLine() error {
	for {
		if i := bytes.IndexByte(l.chunk[l.from:l.to], '\n'); i >= 0 {
			l.advance(i + 1)
			return nil
		}
		l.advance(l.to - l.from)
		if more, err := l.fill(); err != nil || !more {
			return err
		}
	}
}

// next gives the next line without its end; ok is false, and the file closed,
// when the part has no more.
func (l *lines) next() (line string, ok bool, err error) {
	if l.at >= l.end {
		l.close()
		return "", false, nil
	}
	searched := 0
	for {
		i := bytes.IndexByte(l.chunk[l.from+searched:l.to], '\n')
		if i >= 0 && searched+i <= MaxLine {
			return l.cut(searched+i, 1), true, nil
		}
		searched = l.to - l.from
		if searched > MaxLine {
			return "", false, fmt.Errorf("read text: %s: the line that begins at byte %d is longer than %d bytes, the longest allowed", l.name, l.at, MaxLine)
		}
		more, err := l.fill()
		if err != nil {
			return "", false, err
		}
		if !more {
			break
		}
	}
	if searched == 0 {
		l.close()
		return "", false, nil
	}
	return l.cut(searched, 0), true, nil
}

// cut gives the next n bytes as a line and drops them with the line end, whose
// carriage return is not part of the line.
func (l *lines) cut(n, lineEnd int) string {
	line := l.chunk[l.from : l.from+n]
	if n > 0 && lineEnd > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	l.advance(n + lineEnd)
	// What was read into a chunk is never written again.
	return unsafe.String(unsafe.SliceData(line), len(line))
}

func (l *lines) advance(n int) {
	l.from += n
	l.at += int64(n)
}

// fill reads more of the file, moving an unfinished line to a new chunk when the
// old one is used up. more is false at the end of the file.
func (l *lines) fill() (more bool, err error) {
	if l.eof {
		return false, nil
	}
	if l.to == len(l.chunk) {
		l.renew()
	}
	n, err := l.file.Read(l.chunk[l.to:])
	l.to += n
	switch {
	case errors.Is(err, io.EOF):
		l.eof = true
	case err != nil:
		return false, fmt.Errorf("read text: %s at byte %d: %w", l.name, l.at+int64(l.to-l.from), err)
	}
	return n > 0, nil
}

// renew makes a chunk that begins with the unfinished line. A small file needs
// no whole chunk: one byte more than it has finds its end.
func (l *lines) renew() {
	unfinished := l.chunk[l.from:l.to]
	size := chunkBytes
	if left := l.end - l.at + 1; left < chunkBytes {
		size = max(int(left), minChunkBytes)
	}
	l.chunk = make([]byte, max(size, 2*len(unfinished)))
	l.from, l.to = 0, copy(l.chunk, unfinished)
}
