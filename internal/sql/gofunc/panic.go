package gofunc

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/weirstream/weir/internal/sql/expr"
)

// PanicError is a panic in a user's function.
type PanicError struct {
	Function string
	Value    any
	// Line is the file and line that panicked; empty: it is not known.
	Line string
}

func (e *PanicError) Error() string {
	text := fmt.Sprintf("function %s panicked: %v", e.Function, e.Value)
	if e.Line != "" {
		text += " (" + e.Line + ")"
	}
	return text
}

// Unwrap gives the error that the function panicked with.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// recovered makes a panic an error at a row. It is deferred.
func recovered(function string, row *int, err *error) {
	if v := recover(); v != nil {
		*err = panicked(function, *row, v)
	}
}

func panicked(function string, row int, v any) error {
	return expr.AtRow(row, &PanicError{function, v, culprit()})
}

// culprit is the line that panicked: the first below the panic that is not the runtime's.
func culprit() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	panicking := false
	for {
		f, more := frames.Next()
		if panicking && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		panicking = panicking || f.Function == "runtime.gopanic"
		if !more {
			return ""
		}
	}
}
