// Misbehave is a program that goes wrong in the way its argument says, for tests
// of what a cluster makes of that.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/weirstream/weir/stream"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("misbehave: name a way to go wrong")
	}
	mode := os.Args[1]
	switch mode {
	case "no-execute":
		return
	case "plan-exit":
		log.Fatal("misbehave: giving up before Execute")
	case "plan-panic":
		panic("misbehave: before Execute")
	}
	switch mode {
	case "stages":
		stages(stream.NewEnv())
		return
	case "spill":
		spill(stream.NewEnv())
		return
	case "damage":
		damage(stream.NewEnv())
		return
	}
	// As a stream, all tasks run from the beginning; as a batch, the second would
	// wait for the first, which does not end.
	env := stream.NewEnv(stream.Mode(stream.Streaming))
	last := int64(1_000_000_000_000)
	if mode == "brief" {
		last = 3000
	}
	in := stream.Sequence(env, 1, last)
	if mode == "two-graphs" && os.Getenv("WEIR_WORKER") != "" {
		in = in.Map(func(v int64) int64 { return v + 1 }).Name("Only in the worker")
	}
	in.Process(func() stream.ProcessFunction[int64, int64] { return &culprit{mode: mode} }).Name("Culprit").
		KeyBy(func(v int64) int64 { return v % 16 }).Count().
		Discard()
	if err := env.Execute(context.Background(), "misbehave "+mode); err != nil {
		log.Fatal(err)
	}
}

// stages counts numbers in two stages, of which a task of the second kills its
// process once, when the file named by the next argument is there.
func stages(env *stream.Env) {
	stream.Sequence(env, 1, 1600).Process(func() stream.ProcessFunction[int64, int64] { return together{} }).KeyBy(func(v int64) int64 { return v % 16 }).Count().
		Map(func(c stream.Pair[int64, int64]) string {
			if os.Remove(os.Args[2]) == nil {
				if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
					panic(err)
				}
				select {}
			}
			return fmt.Sprintf("%d\t%d", c.Key, c.Value)
		}).WriteText(os.Args[3], func(line string) string { return line })
	if err := env.Execute(context.Background(), "stages"); err != nil {
		log.Fatal(err)
	}
}

// together is a step whose tasks begin only when all of them are there, so that
// none is done, and its slot free, before the last has a slot.
type together struct{}

func (together) Open(o *stream.OpenContext) error {
	if err := os.WriteFile(fmt.Sprint(os.Args[2], "-", o.Subtask), nil, 0o600); err != nil {
		return err
	}
	for {
		there, err := filepath.Glob(os.Args[2] + "-*")
		if err != nil || len(there) == o.Parallelism {
			return err
		}
		select {
		case <-o.Done:
			return errors.New("canceled while the others were not there")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (together) Process(v int64, _ *stream.ProcessContext, emit func(int64)) error {
	emit(v)
	return nil
}

// spill puts 200 MB between two stages.
func spill(env *stream.Env) {
	padding := strings.Repeat("x", 1000)
	stream.Sequence(env, 1, 200_000).
		Map(func(v int64) string { return fmt.Sprintf("%s%d", padding, v) }).
		KeyBy(stream.Self[string]).Count().
		Discard()
	if err := env.Execute(context.Background(), "spill"); err != nil {
		log.Fatal(err)
	}
}

// damage counts a million numbers in three stages. A task of the second damages
// what the first has written, once, when the file named by the next argument is
// there: it flips a bit or cuts the file, as the argument after it says.
func damage(env *stream.Env) {
	stream.Sequence(env, 1, 1_000_000).KeyBy(stream.Self[int64]).Count().
		Process(func() stream.ProcessFunction[stream.Pair[int64, int64], int64] { return &vandal{} }).
		KeyBy(func(v int64) int64 { return v % 16 }).Count().
		Map(func(c stream.Pair[int64, int64]) string { return fmt.Sprintf("%d\t%d", c.Key, c.Value) }).
		WriteText(os.Args[4], func(line string) string { return line })
	if err := env.Execute(context.Background(), "damage"); err != nil {
		log.Fatal(err)
	}
}

type vandal struct{}

func (*vandal) Open(*stream.OpenContext) error {
	if os.Remove(os.Args[2]) != nil {
		return nil
	}
	all, err := filepath.Glob(filepath.Join(os.TempDir(), "weir-scratch-*", "*"))
	if err != nil {
		return err
	}
	var path string
	var size int64
	for _, p := range all {
		if info, err := os.Stat(p); err == nil && info.Size() > size {
			path, size = p, info.Size()
		}
	}
	// What lies at the beginning may have been read already.
	at := size / 10 * 9
	if os.Args[3] == "cut" {
		return os.Truncate(path, at)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return err
	}
	b[0] ^= 1
	_, err = f.WriteAt(b[:], at)
	return err
}

func (*vandal) Process(c stream.Pair[int64, int64], _ *stream.ProcessContext, emit func(int64)) error {
	emit(c.Key)
	return nil
}

type culprit struct {
	mode string
	held [][]byte
}

func (c *culprit) Open(o *stream.OpenContext) error {
	switch c.mode {
	case "open-error":
		return errors.New("cannot open what does not exist")
	case "open-deadlock":
		select {}
	case "file-descriptors":
		return nil
	}
	return nil
}

func (c *culprit) Process(v int64, _ *stream.ProcessContext, emit func(int64)) error {
	if v%1000 == 500 || strings.HasSuffix(c.mode, "-once") {
		if err := c.act(); err != nil {
			return err
		}
	}
	switch {
	case c.mode == "brief":
		held()
	case c.mode == "slow" || strings.HasSuffix(c.mode, "-once"):
		time.Sleep(time.Millisecond)
	}
	emit(v)
	return nil
}

// held returns when the file named by the next argument is not there, or not any more.
func held() {
	for _, err := os.Stat(os.Args[2]); err == nil; _, err = os.Stat(os.Args[2]) {
		time.Sleep(5 * time.Millisecond)
	}
}

func (c *culprit) act() error {
	switch c.mode {
	case "error":
		return fmt.Errorf("parse amount: %w", errors.New("not a number: abc"))
	case "error-once", "fatal-once", "kill-self-once":
		// Whoever removes the file named by the next argument goes wrong.
		if len(os.Args) < 3 || os.Remove(os.Args[2]) != nil {
			return nil
		}
		switch c.mode {
		case "fatal-once":
			return stream.Fatal(errors.New("it will never work"))
		case "kill-self-once":
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return errors.New("this time only")
	case "panic":
		panic("index of nothing")
	case "goroutine-panic":
		go panic("far from any task")
		time.Sleep(time.Minute)
	case "exit":
		os.Exit(7)
	case "kill-self":
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "allocate":
		for range 35 { // no more than that, for the machine's sake
			c.held = append(c.held, []byte(strings.Repeat("x", 16<<20)))
		}
		return errors.New("allocated 560 MiB, and nobody minded")
	case "loop":
		for v := uint64(1); v != 0; v += 2 { // odd numbers wrap around, and are never 0
		}
	case "stdout":
		for {
			fmt.Println(strings.Repeat("endless ", 1000))
		}
	}
	return nil
}
