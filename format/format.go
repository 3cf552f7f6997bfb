// Package format holds how records are written as lines of text and read from
// them: what every format implements.
//
// It promises to those who read files that a record is one line, so that a file
// may be cut anywhere, and that an encoder gives a line for each record. It never
// opens a file. Text is the plainest format; others have packages of their own
// below it.
package format

// Encoding is how records are written.
type Encoding[T any] interface {
	// NewEncoder makes the encoder of one goroutine, or says why T cannot be written.
	NewEncoder() (Encoder[T], error)
}

// Encoder writes records.
type Encoder[T any] interface {
	// AppendHeader appends what a file begins with, with its line end, or nothing.
	AppendHeader(dst []byte) []byte
	// Append appends a record as one line with its end. After an error what it gives
	// is not used.
	Append(dst []byte, v T) ([]byte, error)
}

// Text writes each record as the line that the function gives. It must not hold a
// line end.
type Text[T any] func(T) string

// NewEncoder makes an encoder.
func (t Text[T]) NewEncoder() (Encoder[T], error) { return t, nil }

// AppendHeader appends nothing.
func (t Text[T]) AppendHeader(dst []byte) []byte { return dst }

// Append appends a line.
func (t Text[T]) Append(dst []byte, v T) ([]byte, error) {
	return append(append(dst, t(v)...), '\n'), nil
}
