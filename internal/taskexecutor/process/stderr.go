package process

import (
	"bytes"
)

const (
	tailSize  = 8 << 10  // of standard error is kept
	crashSize = 32 << 10 // of the report of a crash is kept
)

// stderrTail keeps the end of a stream, and from the last line on that begins
// the report of a crash also the beginning of that report: with many goroutines
// the end alone would not tell what happened. It has one writer at a time.
type stderrTail struct {
	tail  []byte
	line  []byte // the beginning of the current line, enough to recognise it
	crash []byte // since the line that began it; nil: there is none
}

var crashBegins = [][]byte{[]byte("panic: "), []byte("fatal error: "), []byte("SIG")}

// longestBegin is as much of a line as tells whether it begins a report.
const longestBegin = len("fatal error: ")

// Write takes everything and never fails.
func (s *stderrTail) Write(p []byte) (int, error) {
	s.tail = append(s.tail, p...)
	if over := len(s.tail) - tailSize; over > 0 {
		s.tail = append(s.tail[:0], s.tail[over:]...)
	}
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		s.part(rest[:end])
		rest = rest[end:]
	}
	return len(p), nil
}

// part takes a piece of one line.
func (s *stderrTail) part(p []byte) {
	before := len(s.line)
	if room := longestBegin - before; room > 0 {
		s.line = append(s.line, p[:min(room, len(p))]...)
	}
	switch {
	case !begins(s.line[:before]) && begins(s.line):
		s.crash = append([]byte{}, s.line[:before]...)
		s.crash = append(s.crash, p...)
	case s.crash != nil && len(s.crash) < crashSize:
		s.crash = append(s.crash, p...)
	}
	s.crash = s.crash[:min(len(s.crash), crashSize)]
	if p[len(p)-1] == '\n' {
		s.line = s.line[:0]
	}
}

// begins reports whether a line begins the report of a crash by the Go runtime:
// a panic, a fatal error, or a signal such as "SIGSEGV: segmentation violation".
func begins(line []byte) bool {
	for _, b := range crashBegins {
		if bytes.HasPrefix(line, b) && (b[0] != 'S' || bytes.Contains(line, []byte(": "))) {
			return true
		}
	}
	return false
}
