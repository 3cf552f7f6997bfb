//go:build linux || darwin

package sqlclient

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"golang.org/x/sys/unix"
)

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	return err == nil
}

// size is how many columns and rows a terminal has; one that does not say has 80 and 24.
func size(f *os.File) (columns, rows int) {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || w.Col == 0 || w.Row == 0 {
		return 80, 24
	}
	return int(w.Col), int(w.Row)
}

// raw makes a terminal give each key as it is pressed, and give up waiting for one after
// a tenth of a second. The function it returns makes it as it was.
func raw(f *os.File) (restore func() error, err error) {
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, fmt.Errorf("read the terminal's state: %w", err)
	}
	state := *before
	state.Lflag &^= unix.ECHO | unix.ICANON | unix.ISIG | unix.IEXTEN
	state.Iflag &^= unix.IXON | unix.ICRNL
	state.Cc[unix.VMIN], state.Cc[unix.VTIME] = 0, 1
	if err := unix.IoctlSetTermios(fd, setTermios, &state); err != nil {
		return nil, fmt.Errorf("set the terminal's state: %w", err)
	}
	return func() error {
		if err := unix.IoctlSetTermios(fd, setTermios, before); err != nil {
			return fmt.Errorf("restore the terminal's state: %w", err)
		}
		return nil
	}, nil
}

// key reads what was pressed; empty: nothing, for a tenth of a second.
func key(f *os.File) (string, error) {
	var b [16]byte
	n, err := unix.Read(int(f.Fd()), b[:])
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read a key: %w", err)
	}
	return string(b[:n]), nil
}

const (
	askCursor = "\x1b[6n"
	// askTenths is how many tenths of a second a terminal has to answer.
	askTenths = 10
)

var cursorAnswer = regexp.MustCompile(`\x1b\[\d+;\d+R`)

// tellsCursor reports whether a terminal says where its cursor is when it is asked: what
// programs take for one, such as expect, and some editors' may not, and who waits for the
// answer waits for ever. It gives what was typed meanwhile.
func tellsCursor(f *os.File, out io.Writer) (tells bool, typed string) {
	restore, err := raw(f)
	if err != nil {
		return false, ""
	}
	defer restore() // the line editor sets the terminal's state itself
	fmt.Fprint(out, askCursor)
	for range askTenths {
		pressed, err := key(f)
		if err != nil {
			break
		}
		typed += pressed
		if at := cursorAnswer.FindStringIndex(typed); at != nil {
			return true, typed[:at[0]] + typed[at[1]:]
		}
	}
	return false, typed
}
