package connectors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/stream"
)

// put writes a file whole under its name.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	hidden := filepath.Join(dir, "."+name)
	if err := errors.Join(os.WriteFile(hidden, []byte(text), 0o600), os.Rename(hidden, filepath.Join(dir, name))); err != nil {
		t.Fatal(err)
	}
}

// until runs a program until done holds, and cancels it.
func until(t *testing.T, env *stream.Env, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("enough")
	ended := make(chan error, 1)
	go func() { ended <- env.Execute(ctx, t.Name()) }()
	for deadline := time.Now().Add(time.Hour); !done(); time.Sleep(50 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("it has ended: %v", err)
		default:
		}
		if time.Now().After(deadline) {
			t.Error("an hour has passed")
			break
		}
	}
	cancel(stopped)
	if err := <-ended; !errors.Is(err, stopped) {
		t.Errorf("it ended with %v", err)
	}
}

// A directory grows while the job fails now and then: each line of each file is
// written once.
func TestADirectoryThatGrows(t *testing.T) { synctest.Test(t, aDirectoryThatGrows) }

func aDirectoryThatGrows(t *testing.T) {
	in, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	const every, lines = 40, 500
	var fails atomic.Int64
	fails.Store(3)
	env := stream.NewEnv(quiet, stream.DefaultParallelism(2), stream.CheckpointInterval(50*time.Millisecond),
		stream.Restart(stream.FixedDelayRestart(10, 10*time.Millisecond)))
	stream.FromSource(env, files.Lines(in).MonitorContinuously(20*time.Millisecond)).
		Map(func(line string) string {
			if strings.HasSuffix(line, "7-77") && fails.Add(-1) >= 0 {
				panic("it was to fail")
			}
			return line
		}).
		WriteText(out, stream.Self[string])
	var want []string
	file := 0
	until(t, env, func() bool {
		if file < every {
			var text strings.Builder
			for i := range lines {
				line := fmt.Sprint(file, "-", i)
				want = append(want, line)
				text.WriteString(line + "\n")
			}
			put(t, in, fmt.Sprint("f", file), text.String())
			file++
			return false
		}
		got, _ := linesOf(t, out)
		return len(got) >= len(want)
	})
	slices.Sort(want)
	if got, _ := linesOf(t, out); !slices.Equal(got, want) {
		t.Errorf("%d lines, %d of them different; want %d", len(got), len(slices.Compact(got)), len(want))
	}
	if fails.Load() > 0 {
		t.Errorf("it has still to fail %d times", fails.Load())
	}
}
