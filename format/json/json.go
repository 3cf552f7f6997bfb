// Package json reads and writes records as JSON, one value a line.
//
// It promises that what is written can be read again, and that an error names the
// field by its JSON pointer, "/user/age", with the value that was seen. Fields are
// named by their json tags, as package encoding/json/v2 has them. It never writes a
// line end inside a record.
package json

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strconv"

	"github.com/weirstream/weir/format"
)

// Format is the format of records of type T. Its zero value is ready to use.
type Format[T any] struct {
	// Strict refuses members that T has no field for, which are passed over
	// otherwise.
	Strict bool
}

// Header reports that files have none.
func (f Format[T]) Header() bool { return false }

// NewDecoder makes a decoder.
func (f Format[T]) NewDecoder(string) (format.Decoder[T], error) {
	return decoder[T]{json.RejectUnknownMembers(f.Strict)}, nil
}

// NewEncoder makes an encoder. Members of maps are written in the order of their
// names.
func (f Format[T]) NewEncoder() (format.Encoder[T], error) { return encoder[T]{}, nil }

type decoder[T any] struct{ options json.Options }

// Decode reads the value of a line.
func (d decoder[T]) Decode(line string, v *T) error {
	err := json.Unmarshal([]byte(line), v, d.options)
	if err == nil {
		return nil
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		cause := semantic.Err
		if cause == nil {
			cause = fmt.Errorf("cannot be read as a Go %v", semantic.GoType)
		}
		return &format.FieldError{Field: string(semantic.JSONPointer), Value: valueAt(line, semantic.JSONPointer), Err: cause}
	}
	return &format.FieldError{Value: line, Err: err}
}

// valueAt gives the text of the value that a pointer leads to, as far as it leads.
func valueAt(line string, pointer jsontext.Pointer) string {
	value := jsontext.Value(line)
	for token := range pointer.Tokens() {
		var members map[string]jsontext.Value
		var elements []jsontext.Value
		if json.Unmarshal(value, &members) == nil {
			value = members[token]
		} else if i, err := strconv.Atoi(token); err == nil && json.Unmarshal(value, &elements) == nil && i < len(elements) {
			value = elements[i]
		} else {
			break
		}
	}
	return string(value)
}

type encoder[T any] struct{}

// AppendHeader appends nothing.
func (encoder[T]) AppendHeader(dst []byte) []byte { return dst }

// Append appends a value as a line.
func (encoder[T]) Append(dst []byte, v T) ([]byte, error) {
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.Multiline(false))
	if err != nil {
		return dst, fmt.Errorf("write a record as JSON: %w", err)
	}
	return append(append(dst, text...), '\n'), nil
}
