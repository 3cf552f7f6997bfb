package status

import (
	"errors"
	"fmt"
	"testing"
)

func TestFatal(t *testing.T) {
	inner := errors.New("no such column")
	for _, test := range []struct {
		err   error
		fatal bool
		chain int
	}{
		{Fatal(inner), true, 0},
		{fmt.Errorf("read orders: %w", Fatal(inner)), true, 1},
		{Fatal(fmt.Errorf("read orders: %w", inner)), true, 1},
		{errors.Join(errors.New("close"), Fatal(inner)), true, 0},
		{inner, false, 0},
	} {
		f := FailureOf(test.err)
		if f.Fatal != test.fatal || len(f.Chain) != test.chain || f.Error() != test.err.Error() {
			t.Errorf("%v: %+v", test.err, f)
		}
	}
	if Fatal(nil) != nil {
		t.Error("no error became one")
	}
}

func TestProcessDied(t *testing.T) {
	for _, test := range []struct {
		f    Failure
		died bool
	}{
		{Failure{Kind: FailureSignal}, true},
		{Failure{Kind: FailureMemory}, true},
		{Failure{Kind: FailurePanic, Exit: 2}, true},
		{Failure{Kind: FailurePanic}, false},
		{Failure{Kind: FailureLost}, false},
	} {
		if test.f.ProcessDied() != test.died {
			t.Errorf("%+v: %t", test.f, test.f.ProcessDied())
		}
	}
}
