//go:build unix

package handshake

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// SendConn passes an accepted connection, whose Hello has been read, to the
// process at the other end of u. On success c is closed here: the other process
// has it. On failure it is still the caller's, and u should not be used again.
//
// One goroutine at a time sends on a u.
func SendConn(u *net.UnixConn, c net.Conn, hello Hello) error {
	payload, err := hello.Encode()
	if err != nil {
		return err
	}
	s, ok := c.(syscall.Conn)
	if !ok {
		return fmt.Errorf("pass connection on: %T has no file descriptor", c)
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return fmt.Errorf("pass connection on: %w", err)
	}
	var sendErr error
	// The descriptor is lent, not copied: there is nothing to close.
	if err := raw.Control(func(fd uintptr) { sendErr = send(u, payload, int(fd)) }); err != nil {
		return fmt.Errorf("pass connection on: %w", err)
	}
	if sendErr != nil {
		return fmt.Errorf("pass connection on: %w", sendErr)
	}
	_ = c.Close()
	return nil
}

// send writes the payload with the descriptor attached to its first byte.
func send(u *net.UnixConn, payload []byte, fd int) error {
	n, oobn, err := u.WriteMsgUnix(payload, syscall.UnixRights(fd), nil)
	if err != nil {
		return err
	}
	if oobn == 0 {
		return errors.New("the descriptor was not sent")
	}
	if n < len(payload) {
		_, err = u.Write(payload[n:])
	}
	return err
}

// ReceiveConn takes the next connection that was passed with SendConn. The error
// is io.EOF when u was closed; after any other one u should not be used again.
//
// The new descriptor is not inherited by child processes.
func ReceiveConn(u *net.UnixConn) (net.Conn, Hello, error) {
	payload, oob := make([]byte, HelloSize), make([]byte, syscall.CmsgSpace(4*maxDescriptors))
	n, oobn, flags, _, err := u.ReadMsgUnix(payload, oob)
	if err != nil {
		return nil, Hello{}, fmt.Errorf("receive connection: %w", err)
	}
	files, err := descriptors(oob[:oobn])
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	switch {
	case err != nil:
		return nil, Hello{}, fmt.Errorf("receive connection: %w", err)
	case n == 0 && oobn == 0:
		return nil, Hello{}, io.EOF
	case flags&(syscall.MSG_CTRUNC|syscall.MSG_TRUNC) != 0 || len(files) != 1:
		return nil, Hello{}, fmt.Errorf("receive connection: got %d descriptors, want 1", len(files))
	}
	if _, err := io.ReadFull(u, payload[n:]); err != nil {
		return nil, Hello{}, fmt.Errorf("receive connection: %w", err)
	}
	hello, err := DecodeHello(payload)
	if err != nil {
		return nil, Hello{}, fmt.Errorf("receive connection: %w", err)
	}
	conn, err := net.FileConn(files[0]) // a copy; the file itself is closed above
	if err != nil {
		return nil, Hello{}, fmt.Errorf("receive connection: %w", err)
	}
	return conn, hello, nil
}

// maxDescriptors is how many descriptors a wrong message may bring before the
// kernel drops the rest.
const maxDescriptors = 16

// descriptors takes all descriptors out of the control messages, so that none
// is lost whatever is wrong.
func descriptors(oob []byte) (files []*os.File, err error) {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		fds, parseErr := syscall.ParseUnixRights(&messages[i])
		if parseErr != nil {
			err = parseErr
			continue
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "passed connection"))
		}
	}
	return files, err
}
