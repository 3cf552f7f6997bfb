package main

import (
	"slices"
	"testing"

	"github.com/weirstream/weir/stream"
)

func TestStatusesAreSummedUp(t *testing.T) {
	lines := []string{
		`::1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 10`,
		`::1 - - [10/Oct/2000:13:55:37 -0700] "GET /b HTTP/1.0" 200 2326 "-" "curl"`,
		`::1 - - [10/Oct/2000:13:55:38 -0700] "GET /c HTTP/1.0" 404 -`,
		`nonsense`,
		`::1 - - [10/Oct/2000:13:55:39 -0700] "GET /a HTTP/1.0" 200 -5`,
	}
	for _, p := range []int{1, 3} {
		env := stream.NewEnv(stream.DefaultParallelism(p))
		statuses, malformed := summarize(stream.FromSlice(env, lines).Rebalance().Map(stream.Self[string]))
		got, wrong := statuses.Map(status.String).Collect(), malformed.Collect()
		if err := env.Execute(t.Context(), "test"); err != nil {
			t.Fatal(err)
		}
		sorted := slices.Sorted(slices.Values(got.Values()))
		want := []string{"200: 2 requests, 2336 bytes, at most 2326 by /b", "404: 1 requests, 0 bytes, at most 0 by /c"}
		if !slices.Equal(sorted, want) {
			t.Errorf("parallelism %d: got %q, want %q", p, sorted, want)
		}
		if w := wrong.Values(); len(w) != 1 || w[0].Value != 2 {
			t.Errorf("parallelism %d: malformed %v, want 2", p, w)
		}
	}
}

// Whatever a line holds, it has a status or is malformed.
func FuzzParseLine(f *testing.F) {
	f.Add(`::1 - - [t] "GET /a HTTP/1.0" 200 10`)
	f.Add(`] " " 1 2`)
	f.Add(`] "a b" 100 9999999999999999999`)
	f.Fuzz(func(t *testing.T, line string) {
		s, err := parseLine(line)
		if (err == nil) != (s.Requests == 1) || s.Bytes < 0 {
			t.Errorf("%q: %+v, %v", line, s, err)
		}
	})
}
