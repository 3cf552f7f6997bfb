package codec

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// ErrCorrupt is wrapped by every error of Decode that the input caused: it was
// cut short, damaged, or encoded by another plan.
var ErrCorrupt = errors.New("corrupt encoding")

// maxColumn is the largest number of values, elements or bytes that one column
// of a batch holds: offsets are int32.
const maxColumn = math.MaxInt32

// A TypeError says which part of a record type cannot be encoded, or cannot be
// part of a key.
type TypeError struct {
	Root   string // the type that was asked for, "shop.Order"
	Path   string // the offending part, "Order.Items[].Ch"
	Type   string // the type of that part, "chan int"
	Reason string // what is wrong with it and what would be allowed
}

// Error names the part, its type, the record and the reason.
func (e *TypeError) Error() string {
	if e.Type == e.Root && !strings.ContainsAny(e.Path, ".[") {
		return fmt.Sprintf("codec: type %s: %s", e.Root, e.Reason)
	}
	return fmt.Sprintf("codec: %s (%s) in type %s: %s", e.Path, e.Type, e.Root, e.Reason)
}

// corrupt reports damage found while decoding column c.
func (c *column) corrupt(format string, args ...any) error {
	return fmt.Errorf("decode column %s: %s: %w", c.path, fmt.Sprintf(format, args...), ErrCorrupt)
}

// short reports that column c needs more bytes than are left.
func (c *column) short(need, have int) error {
	return c.corrupt("needs %d bytes, %d left", need, have)
}

// tooLarge reports that column c of a batch outgrew its int32 offsets.
func (c *column) tooLarge(what string) error {
	return fmt.Errorf("encode column %s: more than %d %s in one batch; use smaller batches", c.path, maxColumn, what)
}
