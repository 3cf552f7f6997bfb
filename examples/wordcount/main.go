// Wordcount counts the words of text files: a word is a maximal run of Unicode
// letters and digits, lower-cased.
//
//	wordcount --input "books/**/*.txt" [--input …] [--output DIR]
//
// With --output it writes lines "word<TAB>count", each word once, into part
// files below DIR; without, it prints the 20 most frequent words.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"iter"
	"log"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/weirstream/weir/stream"
)

func main() {
	log.SetFlags(0)
	var inputs list
	flag.Var(&inputs, "input", "`glob` of text files, ** crosses directories; may be repeated")
	output := flag.String("output", "", "`directory` for the counts; without it the 20 most frequent are printed")
	rate := flag.Bool("rate", false, "print the words counted per second when done (embedded runs only)")
	flag.Parse()
	if len(inputs) == 0 || flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "wordcount: no --input, or unexpected arguments %q\n", flag.Args())
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	env := stream.NewEnv()
	counts := stream.ReadText(env, inputs...).
		FlatMap(words).
		KeyBy(stream.Self[string]).
		Count()
	var total *stream.Collected[int64]
	if *rate {
		total = counts.Map(func(c count) int64 { return c.Value }).Name("Total").Collect()
	}
	if *output != "" {
		counts.WriteText(*output, func(c count) string { return c.Key + "\t" + strconv.FormatInt(c.Value, 10) })
	} else {
		counts.Global().
			Process(func() stream.ProcessFunction[count, string] { return &top{n: 20} }).Name("Top 20").Parallelism(1).
			Print().Parallelism(1)
	}
	started := time.Now()
	if err := env.Execute(ctx, "word count"); err != nil {
		log.Fatalf("wordcount: %v", err)
	}
	if total != nil {
		report(total.Values(), time.Since(started))
	}
}

func report(counts []int64, took time.Duration) {
	var sum int64
	for _, n := range counts {
		sum += n
	}
	fmt.Printf("%d words, %d of them distinct, in %.2f s: %.1f million records per second\n",
		sum, len(counts), took.Seconds(), float64(sum)/took.Seconds()/1e6)
}

type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

type count = stream.Pair[string, int64]

// words yields the words of a line.
func words(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(line, separates) {
			if !yield(strings.ToLower(word)) {
				return
			}
		}
	}
}

func separates(r rune) bool {
	if r < utf8.RuneSelf {
		return !letterOrDigit[r]
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// letterOrDigit answers for the ASCII characters, which are most of any text.
var letterOrDigit = func() (table [utf8.RuneSelf]bool) {
	for r := range rune(utf8.RuneSelf) {
		table[r] = unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return table
}()

// top keeps the most frequent words and emits them at the end, as lines.
type top struct {
	n    int
	best []count
}

func (t *top) Process(c count, _ *stream.ProcessContext, _ func(string)) error {
	if len(t.best) == t.n && less(t.best[t.n-1], c) <= 0 {
		return nil
	}
	at, _ := slices.BinarySearchFunc(t.best, c, less)
	t.best = slices.Insert(t.best, at, c)
	if len(t.best) > t.n {
		t.best = t.best[:t.n]
	}
	return nil
}

func (t *top) Finish(emit func(string)) error {
	for _, c := range t.best {
		emit(fmt.Sprintf("%8d  %s", c.Value, c.Key))
	}
	return nil
}

// less orders by falling count, then by word.
func less(a, b count) int {
	return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Key, b.Key))
}
