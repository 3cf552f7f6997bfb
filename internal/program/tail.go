package program

import (
	"bytes"
	"strings"
)

const (
	// keptOutput is how much of a program's output an error shows, in bytes.
	keptOutput = 8 << 10
	// heldOutput is how much of it is held, so that the line that says why a
	// program died is found before its stack traces.
	heldOutput = 64 << 10
)

// A tail holds the end of what is written to it. One goroutine writes; it is
// read when that has ended.
type tail struct {
	held []byte // at most 2×heldOutput
}

func (t *tail) Write(p []byte) (int, error) {
	if len(p) >= heldOutput {
		t.held = append(t.held[:0], p[len(p)-heldOutput:]...)
		return len(p), nil
	}
	if len(t.held)+len(p) > 2*heldOutput {
		t.held = append(t.held[:0], t.held[len(t.held)-heldOutput:]...)
	}
	t.held = append(t.held, p...)
	return len(p), nil
}

// String gives the end of the output as text, whole lines where possible.
func (t *tail) String() string {
	end := t.held
	if len(end) > keptOutput {
		end = end[len(end)-keptOutput:]
		if cut := bytes.IndexByte(end, '\n'); cut >= 0 && cut+1 < len(end) {
			end = end[cut+1:]
		}
	}
	return strings.ToValidUTF8(strings.TrimRight(string(end), "\n"), "?")
}

// death is the line in which the Go runtime said why the program ended; "" if
// it did not.
func (t *tail) death() string {
	for line := range bytes.Lines(t.held) {
		for _, mark := range []string{"panic: ", "fatal error: "} {
			if bytes.HasPrefix(line, []byte(mark)) {
				return strings.ToValidUTF8(strings.TrimSpace(string(line)), "?")
			}
		}
	}
	return ""
}

// last is the last line that holds something, or where package flag explains
// itself the one before that, which says what was wrong.
func (t *tail) last() string {
	last := ""
	for line := range strings.Lines(t.String()) {
		line = strings.TrimSpace(line)
		if last != "" && (line == "Usage:" || strings.HasPrefix(line, "Usage of ")) {
			break
		}
		if line != "" {
			last = line
		}
	}
	return last
}
