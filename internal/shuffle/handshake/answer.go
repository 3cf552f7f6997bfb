package handshake

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// A Status is the first byte of the answer to a Hello; two bytes of length
// and the reason follow.
type Status byte

// The answers.
const (
	// Accepted: data frames follow.
	Accepted Status = iota
	// Refused: asking again is of no use.
	Refused
	// NotYet: the job's worker does not run here yet; ask again.
	NotYet
)

// A RefusedError is the answer of a peer that did not accept the Hello.
type RefusedError struct {
	Status Status
	Reason string
}

func (e *RefusedError) Error() string {
	if e.Status == NotYet {
		return "not ready yet: " + e.Reason
	}
	return "refused: " + e.Reason
}

// answerTimeout bounds the writing of an answer, which fits any socket's buffer.
const answerTimeout = 5 * time.Second

// maxReason bounds the reason of an answer.
const maxReason = 1 << 10

// Accept tells the peer that its Hello is accepted.
func Accept(conn net.Conn) error { return answer(conn, Accepted, "") }

// Refuse tells the peer why its Hello is not accepted. The caller then closes
// the connection.
func Refuse(conn net.Conn, status Status, reason string) error { return answer(conn, status, reason) }

func answer(conn net.Conn, status Status, reason string) error {
	reason = strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	if err := conn.SetWriteDeadline(time.Now().Add(answerTimeout)); err != nil {
		return fmt.Errorf("answer hello: %w", err)
	}
	head := binary.LittleEndian.AppendUint16([]byte{byte(status)}, uint16(len(reason)))
	if _, err := conn.Write(append(head, reason...)); err != nil {
		return fmt.Errorf("answer hello: %w", err)
	}
	return conn.SetWriteDeadline(time.Time{})
}

// Open says hello on a new connection and reads the answer, which is a
// *RefusedError if it is not Accepted. Nothing is read beyond the answer. When
// ctx ends, so does Open, and the connection is of no more use.
func Open(ctx context.Context, conn net.Conn, h Hello) error {
	hello, err := h.Encode()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	_, err = conn.Write(hello)
	if err == nil {
		err = readAnswer(conn)
	}
	if !stop() {
		return fmt.Errorf("open data connection to %s: %w", h.Target, context.Cause(ctx))
	}
	if refused := (*RefusedError)(nil); err != nil && !errors.As(err, &refused) {
		return fmt.Errorf("open data connection to %s: %w", h.Target, err)
	}
	return err
}

func readAnswer(r io.Reader) error {
	var head [3]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := int(binary.LittleEndian.Uint16(head[1:]))
	if size > maxReason {
		return fmt.Errorf("%w: an answer of %d bytes", ErrNotHello, size)
	}
	reason := make([]byte, size)
	if _, err := io.ReadFull(r, reason); err != nil {
		return err
	}
	switch status := Status(head[0]); status {
	case Accepted:
		return nil
	case Refused, NotYet:
		return &RefusedError{status, strings.ToValidUTF8(string(reason), "?")}
	default:
		return fmt.Errorf("%w: answer %d", ErrNotHello, status)
	}
}
