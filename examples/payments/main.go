// Payments sums up a file of payments by card in SQL, with functions of its own in Go.
//
//	payments --input payments.csv [--output DIR]
//
// A line is "card,amount,note". A card's number is masked, the mean of its payments is
// weighted by their amount, and tags are the words of notes that begin with #. With
// --output the results are written as CSV below DIR, which must be an absolute path where
// the program runs on a cluster; without, they are printed.
package main

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"log"
	"os"
	"os/signal"
	"strings"

	"github.com/weirstream/weir/stream"
	"github.com/weirstream/weir/table"
)

func main() {
	log.SetFlags(0)
	input := flag.String("input", "", "`file` of payments")
	output := flag.String("output", "", "`directory` for the results; without it they are printed")
	flag.Parse()
	if *input == "" || flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "payments: no --input, or unexpected arguments %q\n", flag.Args())
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	env := newEnv()
	defer env.Close()
	if err := run(ctx, env, *input, *output); err != nil {
		log.Fatalf("payments: %v", err)
	}
}

// newEnv makes an environment with the functions.
func newEnv() *table.Env {
	env := table.NewEnv()
	env.Register(
		table.ScalarFunc("mask", mask, table.Doc("The last four digits of a card's number.")),
		table.TableFunc("tags", tags, table.Doc("The words that begin with #.")),
		table.AggregateFunc("weighted_avg", weightedAverage(), table.Doc("The mean of values by their weights.")),
	)
	return env
}

const query = `
SELECT mask(card) AS card, COUNT(*) AS payments, SUM(amount) AS total, weighted_avg(amount, amount) AS mean, MAX(tag) AS tag
FROM payments LEFT JOIN LATERAL TABLE(tags(note)) AS t(tag) ON TRUE
GROUP BY card`

// sums is a row of the query.
type sums struct {
	Card     string
	Payments int64
	Total    float64
	Mean     *float64
	Tag      *string
}

func run(ctx context.Context, env *table.Env, input, output string) error {
	if err := env.Execute(ctx, "CREATE TABLE payments (card STRING, amount DOUBLE, note STRING) WITH "+csv(input)); err != nil {
		return err
	}
	if output != "" {
		return env.Execute(ctx, "CREATE TABLE sums WITH "+csv(output)+" AS "+query)
	}
	for s, err := range env.Query[sums](ctx, query+" ORDER BY total DESC") {
		if err != nil {
			return err
		}
		tag := ""
		if s.Tag != nil {
			tag = " " + *s.Tag
		}
		fmt.Printf("%s  %d payments  %.2f%s\n", s.Card, s.Payments, s.Total, tag)
	}
	return nil
}

// csv are the options of a table in CSV files.
func csv(path string) string {
	return fmt.Sprintf("('connector' = 'filesystem', 'format' = 'csv', 'path' = '%s')", strings.ReplaceAll(path, "'", "''"))
}

func mask(card string) (string, error) {
	if len(card) < 4 {
		return "", fmt.Errorf("%q is no card number", card)
	}
	return "…" + card[len(card)-4:], nil
}

func tags(note string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsSeq(note) {
			if strings.HasPrefix(word, "#") && !yield(word) {
				return
			}
		}
	}
}

// weighted are the arguments of weighted_avg, and total its accumulator.
type weighted struct{ Value, Weight float64 }

type total struct{ Sum, Weight float64 }

func weightedAverage() stream.Aggregator[weighted, total, *float64] {
	return stream.Aggregator[weighted, total, *float64]{
		Add:   func(acc *total, v weighted) { acc.Sum += v.Value * v.Weight; acc.Weight += v.Weight },
		Merge: func(acc *total, other total) { acc.Sum += other.Sum; acc.Weight += other.Weight },
		Result: func(acc *total) *float64 {
			if acc.Weight == 0 {
				return nil
			}
			mean := acc.Sum / acc.Weight
			return &mean
		},
	}
}
