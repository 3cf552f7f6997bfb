package socket

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// host does for the source what its task would.
type host struct {
	operator.Runtime // the rest is not used
	wake             chan struct{}
	done             chan struct{}
	closed           []func(bool)
	got              []string
}

func (h *host) Wake() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}
func (h *host) Mail(func())                                                  {}
func (h *host) Ask(ident.OperatorID, []byte, func(answer []byte, err error)) {}
func (h *host) Call(ident.OperatorID, []byte) ([]byte, error)                { return nil, nil }
func (h *host) OnFlush(func())                                               {}
func (h *host) OnClose(f func(bool))                                         { h.closed = append(h.closed, f) }
func (h *host) Done() <-chan struct{}                                        { return h.done }
func (h *host) CountIn(int)                                                  {}
func (h *host) CountOut(int)                                                 {}

// open makes the source of the server at address. The test's end closes it.
func open(t *testing.T, address string) (*host, operator.Source) {
	h := &host{wake: make(chan struct{}, 1), done: make(chan struct{})}
	out := &operator.Receiver[string]{Push: func(v string, _ int64) { h.got = append(h.got, v) }}
	s := ReadLines(address).Open(&operator.Context{Runtime: h, Signal: operator.NewSignal(func() {})}, out)
	t.Cleanup(func() {
		for _, f := range h.closed {
			f(false)
		}
	})
	return h, s
}

// drain polls until the source ends, and gives its error.
func (h *host) drain(s operator.Source) (err error) {
	return operator.Guard(func() {
		for {
			switch s.Poll() {
			case operator.Done:
				return
			case operator.Wait:
				<-h.wake
			}
		}
	})
}

// serve accepts one connection and hands it to f; the test waits for its end.
func serve(t *testing.T, f func(c *net.TCPConn)) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		defer l.Close()
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		f(c.(*net.TCPConn))
	})
	t.Cleanup(serving.Wait)
	return l.Addr().String()
}

func TestLinesComeOnceAndInOrder(t *testing.T) {
	var many []string
	for i := range 3 * maxLines {
		many = append(many, fmt.Sprint("line ", i))
	}
	for _, test := range []struct {
		name, sent string
		want       []string
	}{
		{"nothing", "", nil},
		{"plain", "a\nb\n", []string{"a", "b"}},
		{"carriage returns", "a\r\nb\r\r\n\r\nc\r", []string{"a", "b\r", "", "c\r"}},
		{"the last without its end", "a\nb", []string{"a", "b"}},
		{"empty lines", "\n\na\n\n", []string{"", "", "a", ""}},
		{"not UTF-8", "\xff\xfe\n\x00\n", []string{"\xff\xfe", "\x00"}},
		{"more than may wait", strings.Join(many, "\n"), many},
		{"larger than may wait", strings.Repeat("x", maxBytes) + "\n" + strings.Repeat("y", maxBytes) + "\n", []string{strings.Repeat("x", maxBytes), strings.Repeat("y", maxBytes)}},
		{"the longest", strings.Repeat("x", MaxLine) + "\r\nz", []string{strings.Repeat("x", MaxLine), "z"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := serve(t, func(c *net.TCPConn) { c.Write([]byte(test.sent)) })
			h, s := open(t, address)
			if err := h.drain(s); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(h.got, test.want) {
				t.Errorf("got %d lines, want %d: %.200q", len(h.got), len(test.want), h.got)
			}
		})
	}
}

// A line is emitted when it has come, not when the next has or the server closes.
func TestALineDoesNotWaitForTheNext(t *testing.T) {
	heard := make(chan struct{})
	address := serve(t, func(c *net.TCPConn) {
		c.Write([]byte("first\nsec"))
		<-heard
		c.Write([]byte("ond\n"))
	})
	h, s := open(t, address)
	for len(h.got) == 0 {
		if s.Poll() == operator.Wait {
			<-h.wake
		}
	}
	if h.got[0] != "first" {
		t.Errorf("got %q", h.got)
	}
	close(heard)
	if err := h.drain(s); err != nil || !slices.Equal(h.got, []string{"first", "second"}) {
		t.Errorf("got %q, error %v", h.got, err)
	}
}

func TestALineTooLongIsNamed(t *testing.T) {
	address := serve(t, func(c *net.TCPConn) {
		c.Write([]byte("short\n"))
		c.Write(make([]byte, MaxLine+3)) // fails when the source hangs up
	})
	h, s := open(t, address)
	err := h.drain(s)
	want := fmt.Sprintf("socket source: read from %s: line 2 is longer than %d bytes, the longest allowed", address, MaxLine)
	if err == nil || err.Error() != want || !slices.Equal(h.got, []string{"short"}) {
		t.Errorf("got %q, error %v", h.got, err)
	}
}

func TestARefusedConnectionIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	h, s := open(t, address)
	err = h.drain(s)
	if err == nil || !strings.HasPrefix(err.Error(), "socket source: connect to "+address) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v", err)
	}
}

// What came before the connection broke is emitted, and then it is an error.
func TestABrokenConnectionIsAnError(t *testing.T) {
	taken := make(chan struct{})
	address := serve(t, func(c *net.TCPConn) {
		c.Write([]byte("a\n"))
		<-taken
		c.SetLinger(0) // closing resets the connection
	})
	h, s := open(t, address)
	for len(h.got) == 0 {
		if s.Poll() == operator.Wait {
			<-h.wake
		}
	}
	close(taken)
	err := h.drain(s)
	var net *net.OpError
	if !errors.As(err, &net) || !strings.HasPrefix(err.Error(), "socket source: read from "+address) {
		t.Errorf("got %v", err)
	}
}

// Closing ends a source that waits for its server, and one whose server waits
// for it.
func TestClosingEndsABlockedSource(t *testing.T) {
	for _, sent := range []int{0, 32 * maxBytes} {
		accepted, hungUp := make(chan struct{}), make(chan struct{})
		address := serve(t, func(c *net.TCPConn) {
			close(accepted)
			defer close(hungUp)
			line := []byte(strings.Repeat("x", 1023) + "\n")
			for n := 0; n < sent; n += len(line) {
				if _, err := c.Write(line); err != nil {
					return
				}
			}
			c.Read(make([]byte, 1))
		})
		h, s := open(t, address)
		<-accepted
		if s.Poll() == operator.Wait && sent > 0 {
			<-h.wake
		}
		for _, f := range h.closed {
			f(true)
		}
		h.closed = nil
		<-hungUp
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "a\r\n\r\nb\r", "\n\r\n", "\xff\r\r\n"} {
		f.Add([]byte(seed), 1)
		f.Add([]byte(seed), 2)
	}
	f.Fuzz(func(t *testing.T, text []byte, window int) {
		window = max(1, window%64)
		want := strings.Split(string(text), "\n")
		for i := range len(want) - 1 {
			want[i] = strings.TrimSuffix(want[i], "\r")
		}
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		var got []string
		for from, to := 0, min(window, len(text)); from < len(text); {
			advance, line, err := split(text[from:to], to == len(text))
			if err != nil {
				t.Fatal(err)
			}
			if from += advance; advance > 0 {
				got = append(got, string(line))
			} else if to == len(text) {
				t.Fatalf("%d bytes are left", len(text)-from)
			}
			to = min(max(from, to)+window, len(text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("windows of %d bytes: got %q, want %q", window, got, want)
		}
	})
}
