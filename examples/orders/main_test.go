package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/stream"
)

func TestSumsPerCustomer(t *testing.T) {
	lines := []string{"# order,customer,cents", "1,ada,1250", "2,bob,300", "", "3,ada,-50"}
	for _, p := range []int{1, 3} {
		env := stream.NewEnv(stream.DefaultParallelism(p), stream.Mode(stream.Batch))
		got := addUp(stream.FromSlice(env, lines)).Map(line).Collect()
		if err := env.Execute(t.Context(), "test"); err != nil {
			t.Fatal(err)
		}
		if sorted := slices.Sorted(slices.Values(got.Values())); !slices.Equal(sorted, []string{"ada,1200", "bob,300"}) {
			t.Errorf("parallelism %d: %q", p, sorted)
		}
	}
}

func TestALineThatIsNoOrderFailsTheJob(t *testing.T) {
	for bad, want := range map[string]string{
		"7,eve,12x": `order 7 of eve: "12x" is no whole number of cents`,
		"7,eve":     `"7,eve" has 2 fields, an order has 3`,
	} {
		env := stream.NewEnv()
		addUp(stream.FromSlice(env, []string{"1,ada,1", bad})).Discard()
		if err := env.Execute(t.Context(), "test"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Parse Orders") {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
	}
}

// Whatever a line holds, it is an order or an error.
func FuzzParse(f *testing.F) {
	f.Add("1,ada,1250")
	f.Add(",,")
	f.Add("1,ada,9223372036854775808")
	f.Fuzz(func(t *testing.T, text string) {
		if o, err := parse(text); err == nil && strings.Count(text, ",") != 2 {
			t.Errorf("%q is %+v", text, o)
		}
	})
}
