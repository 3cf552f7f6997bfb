package stream_test

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/stream"
)

// mistakes are programs that Execute refuses. The line of each that is at fault
// ends in a comment with the program's number.
var mistakes = []struct {
	name  string
	build func(t *testing.T, env *stream.Env)
	want  []string
}{{
	"field that is a channel",
	func(_ *testing.T, env *stream.Env) {
		type bad struct{ C chan int }
		stream.Sequence(env, 1, 9).Map(func(int64) bad { return bad{} }).Rebalance().Discard() // at fault: 0
	},
	[]string{`"Map"`, "bad.C", "chan int", "cannot be encoded"},
}, {
	"field that is a function",
	func(_ *testing.T, env *stream.Env) {
		type bad struct{ Inner []struct{ F func() } }
		s := stream.Sequence(env, 1, 9)
		s.
			Map(func(int64) bad { return bad{} }). // at fault: 1
			Name("maker").
			KeyBy(func(bad) string { return "" }).
			Process(func() stream.KeyedProcessFunction[string, bad, int] { return nil })
	},
	[]string{`"maker"`, "bad.Inner[].F", "func()"},
}, {
	"record that is an interface",
	func(_ *testing.T, env *stream.Env) {
		stream.FromSlice(env, []any{1, "two"}).Rebalance().Discard() // at fault: 2
	},
	[]string{"interface", "cannot be encoded"},
}, {
	"pointer in a key",
	func(_ *testing.T, env *stream.Env) {
		stream.Sequence(env, 1, 9).
			KeyBy(func(v int64) *int64 { return &v }). // at fault: 3
			Count().Discard()
	},
	[]string{"KeyBy", "a pointer cannot be part of a key"},
}, {
	"interface as key",
	func(_ *testing.T, env *stream.Env) {
		stream.Sequence(env, 1, 9).KeyBy(func(v int64) any { return v }).Count().Discard() // at fault: 4
	},
	[]string{"KeyBy", "interface"},
}, {
	"channel as key",
	func(_ *testing.T, env *stream.Env) {
		stream.Sequence(env, 1, 9).KeyBy(func(v int64) chan int { return nil }).Count().Discard() // at fault: 5
	},
	[]string{"KeyBy", "chan int"},
}, {
	"streams of two environments",
	func(_ *testing.T, env *stream.Env) {
		other := stream.Sequence(stream.NewEnv(), 1, 9)
		stream.Sequence(env, 1, 9).Union(other).Discard() // at fault: 6
	},
	[]string{"Union", "different environments"},
}, {
	"Forward to another parallelism",
	func(_ *testing.T, env *stream.Env) {
		stream.Sequence(env, 1, 9).Forward().
			Map(func(v int64) int64 { return v }). // at fault: 7
			Parallelism(3).Discard()
	},
	[]string{"Map", "Forward", "parallelism 2 to parallelism 3", "Rebalance"},
}, {
	"parallelism 0",
	func(_ *testing.T, env *stream.Env) {
		stream.Sequence(env, 1, 9).Parallelism(0).Discard() // at fault: 8
	},
	[]string{"Sequence Source", "got 0", "1 to 32768"},
}, {
	"parallelism above the limit",
	func(_ *testing.T, env *stream.Env) {
		stream.Sequence(env, 1, 9).Discard().Parallelism(32769) // at fault: 9
	},
	[]string{"Discard", "got 32769", "1 to 32768"},
}, {
	"max parallelism 0",
	func(_ *testing.T, env *stream.Env) {
		stream.Sequence(env, 1, 9).MaxParallelism(0).Discard() // at fault: 10
	},
	[]string{"MaxParallelism", "got 0", "1 to 32768"},
}, {
	"parallelism above max parallelism",
	func(_ *testing.T, env *stream.Env) {
		stream.Sequence(env, 1, 9).Map(stream.Self[int64]).Parallelism(5).MaxParallelism(4).Discard() // at fault: 11
	},
	[]string{"Map", "parallelism 5", "max parallelism 4"},
}, {
	"a slice in several subtasks",
	func(_ *testing.T, env *stream.Env) {
		stream.FromSlice(env, []int{1}).Parallelism(2).Discard() // at fault: 12
	},
	[]string{"Collection Source", "got 2", "at most 1"},
}, {
	"UID twice",
	func(_ *testing.T, env *stream.Env) {
		stream.Sequence(env, 1, 9).UID("one").Map(stream.Self[int64]).
			UID("one"). // at fault: 13
			Discard()
	},
	[]string{`UID "one" is taken by the operation at`},
}, {
	"setting on a union",
	func(_ *testing.T, env *stream.Env) {
		s := stream.Sequence(env, 1, 9)
		s.Union(s).Name("both") // at fault: 14
	},
	[]string{"Name", "union"},
}, {
	"setting on a partitioning",
	func(_ *testing.T, env *stream.Env) {
		stream.Sequence(env, 1, 9).Forward().Parallelism(3) // at fault: 15
	},
	[]string{"Parallelism", "partitioning"},
}, {
	"no pattern",
	func(_ *testing.T, env *stream.Env) {
		stream.ReadText(env).Discard() // at fault: 16
	},
	[]string{"ReadText", "no pattern"},
}, {
	"output directory that is not empty",
	func(t *testing.T, env *stream.Env) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "old"), "results")
		stream.FromSlice(env, []string{"a"}).WriteText(dir, stream.Self[string]) // at fault: 17
	},
	[]string{"output directory", "is not empty"},
}, {
	"output directory that is a file",
	func(t *testing.T, env *stream.Env) {
		file := filepath.Join(t.TempDir(), "file")
		write(t, file, "text")
		stream.FromSlice(env, []string{"a"}).WriteText(file, stream.Self[string]) // at fault: 18
	},
	[]string{"output directory", "not a directory"},
}, {
	"a nil function",
	func(t *testing.T, env *stream.Env) {
		stream.Sequence(env, 1, 9).Map[string](nil).Discard() // at fault: 19
	},
	[]string{"Map", "nil"},
}, {
	"a nil sequence function",
	func(t *testing.T, env *stream.Env) {
		var f func(int64) iter.Seq[string]
		stream.Sequence(env, 1, 9).FlatMap(f).Discard() // at fault: 20
	},
	[]string{"FlatMap", "nil"},
}, {
	"a socket address without a port",
	func(t *testing.T, env *stream.Env) {
		stream.Socket(env, "localhost").Discard() // at fault: 21
	},
	[]string{"Socket", `"localhost"`, "port"},
}, {
	"co-located operations of unequal parallelism",
	func(t *testing.T, env *stream.Env) {
		stream.Sequence(env, 1, 9).CoLocationGroup("pair").
			Map(stream.Self[int64]).Parallelism(3).CoLocationGroup("pair").Discard() // at fault: 22
	},
	[]string{"Map has parallelism 3", `co-location group "pair"`, "has 2"},
}, {
	"co-located operations that share no slots",
	func(t *testing.T, env *stream.Env) {
		s := stream.Sequence(env, 1, 9).CoLocationGroup("pair")
		s.Discard().CoLocationGroup("pair").SlotSharingGroup("other") // at fault: 23
	},
	[]string{"Sink: Discard", `co-location group "pair"`, `"other"`},
}}

func TestExecuteNamesTheLineAtFault(t *testing.T) {
	text, err := os.ReadFile("errors_test.go")
	if err != nil {
		t.Fatal(err)
	}
	line := map[string]int{}
	for i, l := range strings.Split(string(text), "\n") {
		if _, number, found := strings.Cut(l, "// at fault: "); found {
			line[number] = i + 1
		}
	}
	for i, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			env := stream.NewEnv(quiet, stream.DefaultParallelism(2))
			m.build(t, env)
			err := env.Execute(t.Context(), "mistake")
			if err == nil {
				t.Fatal("the program ran")
			}
			site := fmt.Sprintf("errors_test.go:%d: ", line[fmt.Sprint(i)])
			for _, want := range append(m.want, site) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q:\n%v", want, err)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("one mistake gives several lines:\n%v", err)
			}
		})
	}
}

// Mistakes in the options of an environment are those of the line that makes it.
func TestOptionsAreChecked(t *testing.T) {
	for _, test := range []struct {
		option stream.Option
		want   string
	}{
		{stream.DefaultParallelism(0), "default parallelism: got 0, want 1 to 32768"},
		{stream.DefaultParallelism(32769), "default parallelism: got 32769, want 1 to 32768"},
		{stream.DefaultMaxParallelism(0), "default max parallelism: got 0, want 1 to 32768"},
		{stream.DefaultMaxParallelism(40000), "default max parallelism: got 40000, want 1 to 32768"},
		{stream.Mode("FAST"), `runtime mode: got "FAST", want AUTOMATIC, STREAMING or BATCH`},
		{stream.Logger(nil), "Logger: nil"},
	} {
		env := stream.NewEnv(test.option)
		stream.Sequence(env, 1, 9).Discard()
		err := env.Execute(t.Context(), "")
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "errors_test.go:") {
			t.Errorf("got %v, want a line and %q", err, test.want)
		}
	}
}

func TestAllMistakesAreTold(t *testing.T) {
	env := stream.NewEnv(quiet)
	s := stream.Sequence(env, 1, 9).Parallelism(-1).MaxParallelism(-1)
	s.KeyBy(func(int64) *int { return nil }).Count().UID("a").Discard().UID("a")
	err := env.Execute(t.Context(), "")
	if err == nil || len(strings.Split(err.Error(), "\n")) != 4 {
		t.Errorf("want 4 mistakes, got:\n%v", err)
	}
}

func TestAProgramWithoutStreamsIsRefused(t *testing.T) {
	if err := stream.NewEnv(quiet).Execute(t.Context(), "nothing"); err == nil || !strings.Contains(err.Error(), "nothing to execute") {
		t.Errorf("got %v", err)
	}
}

func TestAnEnvIsExecutedOnce(t *testing.T) {
	env := stream.NewEnv(quiet)
	stream.Sequence(env, 1, 9).Discard()
	execute(t, env)
	if err := env.Execute(t.Context(), "again"); err == nil || !strings.Contains(err.Error(), "executed before") {
		t.Errorf("got %v", err)
	}
}

func TestBatchModeRefusesASocket(t *testing.T) {
	env := stream.NewEnv(quiet, stream.Mode(stream.Batch))
	stream.Socket(env, "localhost:1").Discard()
	err := env.Execute(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "errors_test.go:") || !strings.Contains(err.Error(), "Source: Socket Stream is unbounded and cannot run in BATCH mode") {
		t.Errorf("got %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
