package handshake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"time"

	"github.com/weirstream/weir/internal/ident"
)

// Version is the version of the data plane's protocol. Both ends of a
// connection speak the same one.
const Version = 6

// HelloSize is the size of an encoded Hello in bytes, always the same:
// magic, version, the power of two that is the size of the buffers, one zero byte,
// cluster, job, and for target and source one byte of length and 255 bytes of text.
const HelloSize = 8 + 2 + 2 + 16 + 16 + 2*(1+maxResource)

const maxResource = 255

// maxPower is the greatest size of buffers, as a power of two.
const maxPower = 30

const magic = "WEIRDATA"

// A Hello says who wants to talk to whom. It is the first thing on a connection.
type Hello struct {
	Version uint16
	Cluster ident.ClusterID
	Job     ident.JobID
	// Target is the TaskManager that is called, Source the one that calls.
	Target, Source ident.ResourceID
	// BufferSize is the size of the caller's network buffers: no frame is larger. It is
	// a power of two.
	BufferSize int
}

// ErrNotHello is wrapped by the error for a connection that does not begin with
// a Hello.
var ErrNotHello = errors.New("not the beginning of a data connection")

// Encode gives the HelloSize bytes of h, or an error if a name is too long.
func (h Hello) Encode() ([]byte, error) {
	b := make([]byte, 0, HelloSize)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint16(b, h.Version)
	if h.BufferSize <= 0 || h.BufferSize&(h.BufferSize-1) != 0 {
		return nil, fmt.Errorf("encode hello: buffers of %d bytes, want a power of two", h.BufferSize)
	}
	b = append(b, byte(bits.TrailingZeros(uint(h.BufferSize))), 0)
	b = append(b, h.Cluster.ID[:]...)
	b = append(b, h.Job.ID[:]...)
	for _, id := range []ident.ResourceID{h.Target, h.Source} {
		if len(id) > maxResource {
			return nil, fmt.Errorf("encode hello: resource id %q is longer than %d bytes", id[:40]+"…", maxResource)
		}
		b = append(b, byte(len(id)))
		b = append(b, id...)
		b = append(b, make([]byte, maxResource-len(id))...)
	}
	return b, nil
}

// DecodeHello reads the bytes of a Hello.
func DecodeHello(b []byte) (Hello, error) {
	if len(b) != HelloSize {
		return Hello{}, fmt.Errorf("%w: %d bytes, want %d", ErrNotHello, len(b), HelloSize)
	}
	if err := checkMagic(b[:8]); err != nil {
		return Hello{}, err
	}
	h := Hello{Version: binary.LittleEndian.Uint16(b[8:])}
	copy(h.Cluster.ID[:], b[12:])
	copy(h.Job.ID[:], b[28:])
	var err error
	if h.Target, err = decodeResource(b[44:]); err != nil {
		return Hello{}, fmt.Errorf("%w: target: %w", ErrNotHello, err)
	}
	if h.Source, err = decodeResource(b[44+1+maxResource:]); err != nil {
		return Hello{}, fmt.Errorf("%w: source: %w", ErrNotHello, err)
	}
	if b[10] > maxPower || b[11] != 0 {
		return Hello{}, fmt.Errorf("%w: buffers of 2^%d bytes, reserved byte %x", ErrNotHello, b[10], b[11])
	}
	h.BufferSize = 1 << b[10]
	return h, nil
}

func decodeResource(b []byte) (ident.ResourceID, error) {
	n, text := int(b[0]), b[1:1+maxResource]
	if rest := bytes.Trim(text[n:], "\x00"); len(rest) > 0 {
		return "", fmt.Errorf("resource id of %d bytes is followed by more text", n)
	}
	return ident.ResourceID(text[:n]), nil
}

// checkMagic names what else may have come to a port of the data plane.
func checkMagic(b []byte) error {
	switch {
	case string(b) == magic:
		return nil
	case b[0] == 0x16 && b[1] == 3:
		return fmt.Errorf("%w: it looks like TLS, which the data port does not speak", ErrNotHello)
	case bytes.HasPrefix(b, []byte("GET ")), bytes.HasPrefix(b, []byte("POST ")), bytes.HasPrefix(b, []byte("PRI * HT")):
		return fmt.Errorf("%w: it looks like HTTP; the REST API has a port of its own", ErrNotHello)
	default:
		return fmt.Errorf("%w: it begins with %q", ErrNotHello, b)
	}
}

// ReadHello reads the Hello of an accepted connection and not a byte more. It
// takes no longer than timeout; an error means that the connection is good for
// nothing and should be closed. The version is not checked: Accept or Refuse
// can still tell the peer.
func ReadHello(conn net.Conn, timeout time.Duration) (Hello, error) {
	if err := conn.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return Hello{}, fmt.Errorf("read hello from %s: %w", conn.RemoteAddr(), err)
	}
	b := make([]byte, HelloSize)
	h, err := readHello(conn, b)
	if err != nil {
		return Hello{}, fmt.Errorf("read hello from %s: %w", conn.RemoteAddr(), err)
	}
	return h, conn.SetReadDeadline(time.Time{})
}

func readHello(r io.Reader, b []byte) (Hello, error) {
	// The magic first: another protocol's peer may send less than a Hello and
	// wait.
	if _, err := io.ReadFull(r, b[:8]); err != nil {
		return Hello{}, err
	}
	if err := checkMagic(b[:8]); err != nil {
		return Hello{}, err
	}
	if _, err := io.ReadFull(r, b[8:]); err != nil {
		return Hello{}, err
	}
	return DecodeHello(b)
}
