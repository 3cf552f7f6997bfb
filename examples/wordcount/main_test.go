package main

import (
	"slices"
	"testing"

	"github.com/weirstream/weir/stream"
)

func TestWordsAreRunsOfLettersAndDigits(t *testing.T) {
	for line, want := range map[string][]string{
		"":                      nil,
		" \t,.":                 nil,
		"The quick, quick FOX!": {"the", "quick", "quick", "fox"},
		"x86_64 don't":          {"x86", "64", "don", "t"},
		"Äpfel–Öl 東京 ½":         {"äpfel", "öl", "東京"},
		"a\xffb":                {"a", "b"},
	} {
		if got := slices.Collect(words(line)); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestTheMostFrequentAreKept(t *testing.T) {
	env := stream.NewEnv(stream.DefaultParallelism(2))
	text := []string{"b a b", "c c a b", "d"}
	got := stream.FromSlice(env, text).FlatMap(words).KeyBy(stream.Self[string]).Count().Global().
		Process(func() stream.ProcessFunction[count, string] { return &top{n: 3} }).Parallelism(1).Collect()
	if err := env.Execute(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"       3  b", "       2  a", "       2  c"}; !slices.Equal(got.Values(), want) {
		t.Errorf("got %q, want %q", got.Values(), want)
	}
}
