package rest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/weirstream/weir/config"
)

// serve serves a world on a free port of the loopback until the test ends.
func serve(t *testing.T) (*Server, string) {
	t.Helper()
	w := newWorld()
	w.config["rest.bind-port"] = "0"
	s := w.server(t)
	l, err := Listen(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := s.Serve(l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		// The context of a test has ended here; without an end this waits for
		// the last connection, which lingers after an error.
		if err := s.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		ended.Wait()
	})
	return s, l.Addr().String()
}

// TestSockets speaks to the port in ways of which no library would think.
func TestSockets(t *testing.T) {
	_, address := serve(t)
	const overview = `"taskmanagers":1`
	for name, c := range map[string]struct {
		sent string
		want []string // in this order
	}{
		"HTTP/1.0":         {"GET /overview HTTP/1.0\r\n\r\n", []string{"HTTP/1.0 200 OK", overview}},
		"closing":          {"GET /overview HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []string{"200 OK", overview}},
		"pipelined":        {"GET /overview HTTP/1.1\r\nHost: x\r\n\r\nGET /jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", []string{"200 OK", overview, "200 OK", `"jobs":[`}},
		"chunked":          {"GET /overview HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", []string{"200 OK", overview}},
		"expecting":        {"GET /overview HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}", []string{"100 Continue", "200 OK", overview}},
		"body cut":         {"GET /overview HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{}", []string{"400 Bad Request", "EmptyRequestBody"}},
		"garbage":          {"FOO\r\n\r\n", []string{"400 Bad Request"}},
		"random bytes":     {"\x00\x01\x02\xff\xfe\r\n\r\n", []string{"400 Bad Request"}},
		"TLS hello":        {"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03", nil},
		"nothing":          {"", nil},
		"endless header":   {"GET /overview HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 200_000) + "\r\n\r\n", []string{"431 Request Header Fields Too Large"}},
		"two lengths":      {"GET /overview HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", []string{"400 Bad Request"}},
		"path with spaces": {"GET /over view HTTP/1.1\r\nHost: x\r\n\r\n", []string{"400 Bad Request"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := converse(t, address, c.sent, name == "endless header")
			// A server that closes before it has read all resets the connection in the
			// end, and so takes away what its client has not read yet.
			for try := 1; errors.Is(err, syscall.ECONNRESET) && !inOrder(got, c.want) && try < 20; try++ {
				got, err = converse(t, address, c.sent, name == "endless header")
			}
			if err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Error(err)
			}
			if !inOrder(got, c.want) {
				t.Fatalf("%q are not in their places in %.600q", c.want, got)
			}
		})
	}
	answer, err := http.Get("http://" + address + "/overview")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	line, err := bufio.NewReader(answer.Body).ReadString('}')
	if err != nil || !strings.Contains(line, overview) || answer.Header.Get("Content-Type") != jsonType {
		t.Errorf("the next good request: %s %v, %v", line, answer.Header, err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// converse sends all over a connection of its own and gives all that is answered.
func converse(t *testing.T, address, sent string, cut bool) (string, error) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, sent); err != nil && !cut {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil && !cut {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	return string(got), err
}

// inOrder reports whether text has all of the words, one behind the other.
func inOrder(text string, words []string) bool {
	for _, word := range words {
		_, after, found := strings.Cut(text, word)
		if !found {
			return false
		}
		text = after
	}
	return true
}

func TestListen(t *testing.T) {
	taken, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	listen := func(settings map[string]string) (net.Listener, error) {
		c, err := config.New(settings)
		if err != nil {
			t.Fatal(err)
		}
		return Listen(c)
	}
	if _, err := listen(map[string]string{"rest.port": strconv.Itoa(port)}); !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "rest.port") {
		t.Errorf("a port in use: %v", err)
	}
	if _, err := listen(map[string]string{"rest.bind-port": fmt.Sprintf("%d,%d", port, port)}); err == nil || !strings.Contains(err.Error(), "no port of rest.bind-port is free") {
		t.Errorf("a range in use: %v", err)
	}
	l, err := listen(map[string]string{"rest.bind-port": fmt.Sprintf("%d,0", port)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := l.Addr().(*net.TCPAddr); got.Port == port || !got.IP.IsLoopback() {
		t.Errorf("listens on %v", got)
	}
	if _, err := listen(map[string]string{"rest.bind-address": "192.0.2.1", "rest.bind-port": "0"}); err == nil {
		t.Error("listens on an address this machine does not have")
	}
}
