package operator

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// culprit names the function and line of the user's code that the current panic
// came from: " (main.parse at /src/job/main.go:42)". It is empty if there is no
// such line. It is called by the deferred function that recovers.
func culprit() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	library, panicked := "", false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic" && !panicked:
			panicked = true
			library = strings.TrimSuffix(path.Dir(f.File), "runtime")
		case panicked && !ours(f) && !standard(f, library):
			return fmt.Sprintf(" (%s at %s:%d)", f.Function, f.File, f.Line)
		}
		if !more {
			return ""
		}
	}
}

// ours says that the frame is the engine's own.
func ours(f runtime.Frame) bool {
	rest, inside := strings.CutPrefix(f.Function, "github.com/weirstream/weir/")
	if !inside || strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	return strings.HasPrefix(rest, "internal/") || strings.HasPrefix(rest, "connector/") ||
		strings.HasPrefix(rest, "stream.") || strings.HasPrefix(rest, "batch.")
}

// standard says that the frame is of the standard library, whose sources are
// below library. A binary built with -trimpath does not say where; then the
// package's path tells, as those of the library have no dot in their first part.
func standard(f runtime.Frame, library string) bool {
	if library != "" {
		return strings.HasPrefix(f.File, library)
	}
	first, _, _ := strings.Cut(f.Function, "/")
	if first == f.Function {
		first, _, _ = strings.Cut(f.Function, ".")
	}
	return first != "main" && !strings.Contains(first, ".")
}
