package rpc

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
)

// code says on the wire what kind of answer it is. The numbers are the
// protocol's and never change.
type code uint8

const (
	codeOK              code = 0
	codeRefused         code = 1
	codeUnknownEndpoint code = 2
	codeFenced          code = 3
	codeUnreachable     code = 4
	codeTimeout         code = 5
	codeDisconnected    code = 6
)

// kinds are the errors that keep their identity across the wire, the narrower
// before the wider. A callee that passes a call on answers with the last three.
var kinds = []struct {
	code code
	err  error
}{
	{codeUnknownEndpoint, ErrUnknownEndpoint},
	{codeFenced, ErrFenced},
	{codeDisconnected, ErrDisconnected},
	{codeUnreachable, ErrUnreachable},
	{codeTimeout, ErrTimeout},
}

// encodeError gives the wire form of a handler's error.
func encodeError(err error) (code, string) {
	var refused *RefusedError
	if !errors.As(err, &refused) {
		for _, k := range kinds {
			if errors.Is(err, k.err) {
				return k.code, err.Error()
			}
		}
	}
	return codeRefused, err.Error()
}

// decodeError gives the error a wire form stands for. A code this version does
// not know is a refusal.
func decodeError(c code, text string) error {
	for _, k := range kinds {
		if k.code == c {
			return &answeredError{text: text, kind: k.err}
		}
	}
	return &RefusedError{Text: text}
}

// answeredError is one of the kinds, in the callee's words.
type answeredError struct {
	text string
	kind error
}

func (e *answeredError) Error() string { return e.text }
func (e *answeredError) Unwrap() error { return e.kind }

// checkSize refuses a message that is too large to be sent.
func checkSize(what, method string, size int) error {
	if size <= MaxMessage {
		return nil
	}
	return Refuse("%s of %s: %d bytes, more than the %d bytes a message may have", what, method, size, MaxMessage)
}

// transfer makes to a copy of from, for calls that stay inside the process.
func transfer(what, method string, to, from proto.Message) error {
	proto.Reset(to)
	if from == nil {
		return nil
	}
	if err := checkSize(what, method, proto.Size(from)); err != nil {
		return err
	}
	if want, got := to.ProtoReflect().Descriptor(), from.ProtoReflect().Descriptor(); want != got {
		return Refuse("%s of %s: want a %s, got a %s", what, method, want.FullName(), got.FullName())
	}
	proto.Merge(to, from)
	return nil
}

func unknownEndpoint(name string) error {
	return fmt.Errorf("endpoint %s: %w", name, ErrUnknownEndpoint)
}
