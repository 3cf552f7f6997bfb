//go:build linux

package program

import (
	"encoding/json/v2"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// TestMain runs the tests. Started with WEIR_PLAN the test binary is itself a
// program to be planned, and does what its first argument says.
func TestMain(m *testing.M) {
	if path := os.Getenv(assignment.PlanVariable); path != "" {
		os.Exit(behave(path, os.Args[1:]))
	}
	leaks.Main(m)
}

// behave is the main of a program.
func behave(path string, args []string) int {
	switch args[0] {
	case "job":
		return describe(path, args)
	case "panic":
		panic("boom")
	case "late panic":
		fmt.Println(strings.Repeat("a line of a long story\n", 10_000))
		panic("at the end")
	case "exit":
		fmt.Fprintln(os.Stderr, "cannot read the configuration")
		return 3
	case "usage":
		flag.CommandLine.Init("job", flag.ContinueOnError)
		flag.String("input", "", "a glob")
		_ = flag.CommandLine.Parse([]string{"-bad"})
		return 2
	case "silent exit":
		return 4
	case "no job":
		fmt.Println("nothing to do")
		return 0
	case "garbage":
		_ = os.WriteFile(path, []byte("{nonsense"), 0o600)
		return 0
	case "loop":
		for {
			runtime.Gosched()
		}
	case "chatter":
		for {
			fmt.Println("and another thing")
		}
	case "grow":
		var all [][]byte
		for {
			block := make([]byte, 1<<20)
			for i := range block {
				block[i] = byte(i)
			}
			all = append(all, block)
			_ = all
		}
	case "litter":
		_ = os.WriteFile("left-behind", []byte("x"), 0o600)
		return describe(path, args)
	case "orphan":
		return orphan(path, args)
	case "hold":
		hold(args[1])
	}
	return 99
}

// describe writes a job of one vertex, named after what it was told.
func describe(path string, args []string) int {
	settings := map[string]string{}
	if err := json.Unmarshal([]byte(os.Getenv(assignment.SettingsVariable)), &settings); err != nil {
		return 98
	}
	g := &jobgraph.Graph{Name: strings.Join(args, " "), Configuration: settings, Vertices: []*jobgraph.Vertex{
		{ID: ident.VertexID{ID: ident.ID{1}}, Name: "v", Parallelism: 1, MaxParallelism: 128},
	}}
	if err := os.WriteFile(path, g.Encode(), 0o600); err != nil {
		return 97
	}
	return 0
}

// orphan leaves a child that keeps the output open and holds a lock.
func orphan(path string, args []string) int {
	self, err := os.Executable()
	if err != nil {
		return 92
	}
	child := exec.Command(self, "hold", args[1])
	out, err := child.StdoutPipe()
	if err != nil {
		return 96
	}
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		return 95
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // until it holds the lock
		return 94
	}
	return describe(path, args)
}

func hold(path string) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil || syscall.Flock(int(f.Fd()), syscall.LOCK_EX) != nil {
		os.Exit(93)
	}
	fmt.Println("held")
	for {
		syscall.Pause()
	}
}
