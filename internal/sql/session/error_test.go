package session

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestCauses(t *testing.T) {
	number := &Error{Class: ClassNumber, Text: "For input string: 'x'."}
	for _, c := range []struct {
		err  error
		want []Cause
	}{
		{nil, nil},
		{errors.New("no"), []Cause{{ClassTable, "no"}}},
		{number, []Cause{{ClassNumber, "For input string: 'x'."}}},
		{&Error{Class: ClassValidation, Text: "a", Cause: number}, []Cause{{ClassValidation, "a"}, {ClassNumber, "For input string: 'x'."}}},
		{fmt.Errorf("read row 3: %w", number), []Cause{{ClassTable, "read row 3"}, {ClassNumber, "For input string: 'x'."}}},
		{&Error{Class: ClassValidation, Text: "a", Cause: errors.New("b")}, []Cause{{ClassValidation, "a"}, {ClassTable, "b"}}},
	} {
		if got := Causes(c.err); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.err, got, c.want)
		}
	}
}
