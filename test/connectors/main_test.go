// Package connectors tests sources and sinks of the stream API with whole jobs, which
// run in this process and in virtual time, and fail on the way: what goes in must come
// out once.
package connectors

import (
	"log/slog"
	"testing"

	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/stream"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// quiet keeps what an embedded run logs out of the test's output.
var quiet = stream.Logger(slog.New(slog.DiscardHandler))

// execute runs a program that must finish.
func execute(t *testing.T, env *stream.Env) {
	t.Helper()
	if err := env.Execute(t.Context(), t.Name()); err != nil {
		t.Fatal(err)
	}
}
