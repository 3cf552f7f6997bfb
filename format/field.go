package format

import "fmt"

// maxShown is how many bytes of a value an error quotes.
const maxShown = 100

// FieldError says which field of a record cannot be read, and what was seen.
type FieldError struct {
	// Field names the field as the format does; empty: the record itself.
	Field string
	// Column counts the field's columns in a line from 1; 0: the format has none.
	Column int
	// Value is the text that was seen.
	Value string
	// Err is what is wrong with it.
	Err error
}

func (e *FieldError) Error() string {
	value := e.Value
	if len(value) > maxShown {
		value = value[:maxShown] + "…"
	}
	switch {
	case e.Field == "":
		return fmt.Sprintf("%q: %v", value, e.Err)
	case e.Column > 0:
		return fmt.Sprintf("field %q (column %d): value %q: %v", e.Field, e.Column, value, e.Err)
	default:
		return fmt.Sprintf("field %q: value %q: %v", e.Field, value, e.Err)
	}
}

// Unwrap gives the cause.
func (e *FieldError) Unwrap() error { return e.Err }
