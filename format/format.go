// Package format holds how records are written as lines of text and read from
// them: what every format implements.
//
// It promises to those who read files that a record is one line, so that a file
// may be cut anywhere, and that an encoder gives a line for each record, unless it is a
// FileEncoder. It never opens a file. Text is the plainest format; others have packages of their own
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

// FileEncoder is an Encoder whose files are more than one record after the other: it may
// keep records back, and ends each file. It makes the encoders of files, and is none
// itself.
type FileEncoder[T any] interface {
	Encoder[T]
	// NewFile makes the encoder of one file.
	NewFile() FileEncoder[T]
	// Count is how many records v stands for.
	Count(v T) int
	// AppendEnd appends what was kept back, and what the file ends with. Nothing follows.
	AppendEnd(dst []byte) ([]byte, error)
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

// Decoding is how records are read.
type Decoding[T any] interface {
	// Header reports whether the first line of a file is no record but says what the
	// others hold.
	Header() bool
	// NewDecoder makes the decoder of the records of one file, of which header is the
	// first line if there is one. It is used by one goroutine.
	NewDecoder(header string) (Decoder[T], error)
}

// Decoder reads records.
type Decoder[T any] interface {
	// Decode reads the record of one line, without its end, into v, which is the zero
	// value before. The line's memory is not changed afterwards: v may refer to it.
	// What it cannot read is best told by a *FieldError.
	Decode(line string, v *T) error
}

// Lines reads each line as the record.
type Lines struct{}

// Header reports that there is none.
func (Lines) Header() bool { return false }

// NewDecoder makes a decoder.
func (Lines) NewDecoder(string) (Decoder[string], error) { return Lines{}, nil }

// Decode gives the line.
func (Lines) Decode(line string, v *string) error {
	*v = line
	return nil
}
