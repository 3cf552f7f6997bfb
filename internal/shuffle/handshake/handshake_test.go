package handshake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

var sample = Hello{
	Version: Version,
	Cluster: ident.ClusterID{ID: ident.ID{1, 2, 3}},
	Job:     ident.JobID{ID: ident.ID{4, 5, 6}},
	Target:  "localhost:45123-1a2b3c",
	Source:  "localhost:45124-ffffff",

	BufferSize: 4 << 10,
}

func mustEncode(t testing.TB, h Hello) []byte {
	t.Helper()
	b, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReadHelloReadsItAndNothingMore(t *testing.T) {
	a, b := net.Pipe()
	go func() {
		_, _ = a.Write(append(mustEncode(t, sample), "rest"...))
		_ = a.Close()
	}()
	got, err := ReadHello(b, time.Minute)
	if err != nil || got != sample {
		t.Fatalf("got %+v, %v", got, err)
	}
	if rest, err := io.ReadAll(b); string(rest) != "rest" {
		t.Errorf("after the hello: %q, %v", rest, err)
	}
}

func TestReadHelloOfStrangers(t *testing.T) {
	hello := mustEncode(t, sample)
	for _, test := range []struct{ sends, want string }{
		{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "looks like TLS"},
		{"GET / HTTP/1.1\r\n", "looks like HTTP"},
		{"SSH-2.0-OpenSSH", "begins with"},
		{"", "timeout"},
		{string(hello[:100]), "timeout"},
		{strings.Replace(string(hello), "WEIRDATA\x06\x00\x0c\x00", "WEIRDATA\x06\x00\x0c\x09", 1), "reserved byte 9"},
		{strings.Replace(string(hello), "WEIRDATA\x06\x00\x0c\x00", "WEIRDATA\x06\x00\x1f\x00", 1), "buffers of 2^31 bytes"},
		{string(hello[:HelloSize-1]) + "x", "followed by more text"},
	} {
		synctest.Test(t, func(t *testing.T) {
			a, b := net.Pipe()
			go func() { _, _ = a.Write([]byte(test.sends)) }()
			start := time.Now()
			_, err := ReadHello(b, 3*time.Second)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%.20q: got %v, want %q", test.sends, err, test.want)
			}
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("%.20q: took %s", test.sends, took)
			}
			_, _ = a.Close(), b.Close()
		})
	}
}

func TestBufferSizesThatCannotBeSaidAreRefused(t *testing.T) {
	for _, size := range []int{-1, 0, 5000} {
		h := sample
		h.BufferSize = size
		if _, err := h.Encode(); err == nil {
			t.Errorf("buffers of %d bytes were encoded", size)
		}
	}
}

func TestLongNamesAreRefused(t *testing.T) {
	h := sample
	h.Source = ident.ResourceID(strings.Repeat("x", 256))
	if _, err := h.Encode(); err == nil {
		t.Error("a resource id of 256 bytes was encoded")
	}
}

func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		answer func(net.Conn) error
		want   string
	}{
		{Accept, ""},
		{func(c net.Conn) error { return Refuse(c, Refused, "cluster abc is not served here") }, "refused: cluster abc is not served here"},
		{func(c net.Conn) error { return Refuse(c, NotYet, strings.Repeat("é", 600)) }, "not ready yet: " + strings.Repeat("é", 512)},
		{func(c net.Conn) error { _, err := c.Write([]byte{77, 0, 0}); return err }, "answer 77"},
		{func(c net.Conn) error { _, err := c.Write([]byte{1, 1, 4}); return err }, "an answer of 1025 bytes"},
		{func(c net.Conn) error { return c.Close() }, "EOF"},
	} {
		a, b := net.Pipe()
		served := make(chan error)
		go func() {
			_, err := ReadHello(b, time.Minute)
			served <- errors.Join(err, test.answer(b))
		}()
		err := Open(t.Context(), a, sample)
		if fmt.Sprint(err) != test.want && (test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want))) {
			t.Errorf("got %v, want %q", err, test.want)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		_, _ = a.Close(), b.Close()
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		go func() { _, _ = ReadHello(b, time.Hour) }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := Open(ctx, a, sample); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		_, _ = a.Close(), b.Close()
	})
}

// unixPair is two ends of a unix socket.
func unixPair(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr)); err != nil {
		t.Fatal(err)
	}
	if b, err = l.AcceptUnix(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

// tcpPair is two ends of a TCP connection.
func tcpPair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

func TestPassingConnections(t *testing.T) {
	sender, receiver := unixPair(t)
	before := openDescriptors(t)
	for range 20 {
		for _, pair := range []func(*testing.T) (net.Conn, net.Conn){tcpPair, func(t *testing.T) (net.Conn, net.Conn) { a, b := unixPair(t); return a, b }} {
			client, server := pair(t)
			if _, err := client.Write([]byte("early")); err != nil {
				t.Fatal(err)
			}
			if err := SendConn(sender, server, sample); err != nil {
				t.Fatal(err)
			}
			passed, hello, err := ReceiveConn(receiver)
			if err != nil || hello != sample {
				t.Fatalf("got %+v, %v", hello, err)
			}
			checkCloseOnExec(t, passed)
			got := make([]byte, 5)
			if _, err := io.ReadFull(passed, got); err != nil || string(got) != "early" {
				t.Errorf("read %q, %v", got, err)
			}
			if _, err := passed.Write([]byte("answer")); err != nil {
				t.Error(err)
			}
			_ = passed.Close()
			if all, err := io.ReadAll(client); err != nil || string(all) != "answer" {
				t.Errorf("client read %q, %v: the sender's copy may still be open", all, err)
			}
			_ = client.Close()
		}
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors open, %d before", after, before)
	}
	_ = sender.Close()
	if _, _, err := ReceiveConn(receiver); !errors.Is(err, io.EOF) {
		t.Errorf("after the sender closed: %v", err)
	}
}

func TestWrongPassingsLeaveNoDescriptor(t *testing.T) {
	client, server := tcpPair(t)
	file, err := server.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_ = client
	fd := int(file.Fd())
	good := mustEncode(t, sample)
	for name, test := range map[string]struct {
		payload []byte
		fds     []int
	}{
		"none":        {good, nil},
		"two":         {good, []int{fd, fd}},
		"no hello":    {make([]byte, HelloSize), []int{fd}},
		"short hello": {good[:10], []int{fd}},
	} {
		sender, receiver := unixPair(t)
		before := openDescriptors(t)
		var oob []byte
		if test.fds != nil {
			oob = syscall.UnixRights(test.fds...)
		}
		if _, _, err := sender.WriteMsgUnix(test.payload, oob, nil); err != nil {
			t.Fatal(err)
		}
		if err := sender.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if c, _, err := ReceiveConn(receiver); err == nil {
			t.Errorf("%s: received %v", name, c)
		}
		if after := openDescriptors(t); after != before {
			t.Errorf("%s: %d descriptors open, %d before", name, after, before)
		}
	}
	a, b := net.Pipe()
	sender, _ := unixPair(t)
	if err := SendConn(sender, a, sample); err == nil {
		t.Error("passed a connection without a descriptor")
	}
	_, _ = a.Close(), b.Close()
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no list of descriptors on this system")
	}
	return len(entries)
}

func checkCloseOnExec(t *testing.T, c net.Conn) {
	t.Helper()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		if flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFD, 0); errno != 0 || flags&syscall.FD_CLOEXEC == 0 {
			t.Errorf("descriptor flags %d, %v: child processes would inherit it", flags, errno)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func FuzzDecodeHello(f *testing.F) {
	f.Add(mustEncode(f, sample))
	f.Add([]byte("WEIRDATA"))
	f.Add(make([]byte, HelloSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := readHello(bytes.NewReader(b), make([]byte, HelloSize))
		if err != nil {
			return
		}
		if !bytes.Equal(mustEncode(t, h), b[:HelloSize]) {
			t.Errorf("hello %+v does not encode to what it was read from", h)
		}
	})
}

func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte{0, 0})
	f.Add([]byte("\x01\x02no"))
	f.Add([]byte("\x02\xffno"))
	f.Fuzz(func(t *testing.T, b []byte) { _ = readAnswer(bytes.NewReader(b)) })
}
