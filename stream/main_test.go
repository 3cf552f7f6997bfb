package stream_test

import (
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/stream"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// seedFlag repeats the random test that printed it.
var seedFlag = flag.Uint64("seed", 0, "run the random programs of this seed only")

// quiet keeps what an embedded run logs out of the test's output.
var quiet = stream.Logger(slog.New(slog.DiscardHandler))

// setting is one way to run a program that must not change its results.
type setting struct {
	parallelism int
	unchained   bool
	buffer      time.Duration
	mode        stream.RuntimeMode
}

func (s setting) env() *stream.Env {
	options := []stream.Option{quiet, stream.DefaultParallelism(s.parallelism), stream.BufferTimeout(s.buffer), stream.Mode(s.mode)}
	if s.unchained {
		options = append(options, stream.DisableOperatorChaining())
	}
	return stream.NewEnv(options...)
}

// settings are all combinations that results must be equal in.
func settings() (all []setting) {
	for _, p := range []int{1, 2, 4, 7} {
		for _, unchained := range []bool{false, true} {
			for _, buffer := range []time.Duration{-1, 0, 100 * time.Millisecond} {
				for _, mode := range []stream.RuntimeMode{stream.Streaming, stream.Batch} {
					all = append(all, setting{parallelism: p, unchained: unchained, buffer: buffer, mode: mode})
				}
			}
		}
	}
	return all
}

// execute runs a program that must finish.
func execute(t *testing.T, env *stream.Env) {
	t.Helper()
	if err := env.Execute(t.Context(), t.Name()); err != nil {
		t.Fatal(err)
	}
}

// captureStdout gives what f prints.
func captureStdout(t *testing.T, f func()) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdout")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	old := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = old }()
	f()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
