package filesystem

import (
	"bytes"
	"fmt"
	"io"
	"math"
)

// lineFinder finds where records of CSV begin in the middle of a file whose values may
// have line ends within quotes. Only who has seen all quotes before a byte knows whether
// it is within quotes, so it reads the file from its beginning, looking for quotes, which
// is many times as fast as to read records; and it goes on from where it was last asked.
//
// Whether a quote begins a value is decided as csvDecoder decides it. Where that fails,
// the job does.
type lineFinder struct {
	csvFormat
	path   string
	file   io.ReadCloser // nil: none is open
	chunk  []byte
	text   []byte // of the chunk, behind at
	at     int64
	none   int64 // no line begins from here on before at, which may be far behind it
	before byte  // at; a line end at the beginning
	within bool  // at is within quotes
}

// find gives where the first line begins that does so at a byte or behind it, or the end
// of the file.
func (l *lineFinder) find(path string, from int64) (int64, error) {
	switch {
	case l.file != nil && path == l.path && l.none <= from && from <= l.at && l.before == '\n' && !l.within:
		return l.at, nil
	case l.file == nil || path != l.path || from < l.at:
		if err := l.open(path); err != nil {
			return 0, err
		}
	}
	l.none = math.MaxInt64
	for {
		for len(l.text) > 0 {
			if l.at >= from && l.before == '\n' && !l.within {
				l.none = from
				return l.at, nil
			}
			if err := l.step(from); err != nil {
				return 0, err
			}
		}
		switch more, err := l.fill(); {
		case err != nil:
			return 0, fmt.Errorf("read %s: %w", path, err)
		case !more:
			return l.at, nil
		}
	}
}

func (l *lineFinder) open(path string) error {
	l.close()
	f, err := openAt(path, 0)
	if err != nil {
		return err
	}
	l.path, l.file, l.text, l.at, l.before, l.within = path, f, nil, 0, '\n', false
	if _, err := l.fill(); err != nil {
		return err
	}
	if bytes.HasPrefix(l.text, byteOrderMark) {
		l.skip(len(byteOrderMark))
		l.before = '\n'
	}
	return nil
}

// passed says that the first line that begins at end or behind it does so at a byte,
// because somebody has read all records as far as there.
func (l *lineFinder) passed(path string, end, at int64) error {
	if l.file == nil || path != l.path || at <= l.at {
		return nil
	}
	if behind := at - l.at; behind <= int64(len(l.text)) {
		l.skip(int(behind))
	} else {
		l.close()
		f, err := openAt(path, at)
		if err != nil {
			return err
		}
		l.file, l.text, l.at = f, nil, at
	}
	l.none, l.before, l.within = end, '\n', false
	return nil
}

func (l *lineFinder) close() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

// fill reads more of the file behind the text that is there.
func (l *lineFinder) fill() (more bool, err error) {
	if l.chunk == nil {
		l.chunk = make([]byte, firstChunk)
	}
	held := copy(l.chunk, l.text)
	n, err := l.file.Read(l.chunk[held:])
	l.text = l.chunk[:held+n]
	if err == io.EOF {
		err = nil
	}
	return n > 0, err
}

func (l *lineFinder) skip(n int) {
	if n > 0 {
		l.before = l.text[n-1]
	}
	l.text = l.text[n:]
	l.at += int64(n)
}

// step goes on to where something changes: past a quote, or, from the byte that is looked
// for on, past a line's end.
func (l *lineFinder) step(from int64) error {
	quote := bytes.IndexByte(l.text, l.quote)
	if l.within {
		return l.closing(quote)
	}
	text := l.text
	if quote >= 0 {
		text = text[:quote]
	}
	if at := max(0, from-1-l.at); at < int64(len(text)) {
		if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
			l.skip(int(at) + end + 1)
			return nil
		}
	}
	l.skip(len(text))
	if quote >= 0 {
		begins := l.before == l.delimiter || l.before == '\n'
		l.skip(1)
		l.within = begins
	}
	return nil
}

// closing goes past the next quote within quotes: a doubled one, or the one that closes.
func (l *lineFinder) closing(quote int) error {
	if quote < 0 {
		l.skip(len(l.text))
		return nil
	}
	l.skip(quote)
	if len(l.text) == 1 {
		if more, err := l.fill(); err != nil || !more {
			l.skip(1)
			l.within = false
			return err
		}
	}
	if l.text[1] == l.quote {
		l.skip(2)
		return nil
	}
	l.skip(1)
	l.within = false
	return nil
}
