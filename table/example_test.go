package table_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"strings"

	"github.com/weirstream/weir/stream"
	"github.com/weirstream/weir/table"
)

func Example() {
	ctx := context.Background()
	env := table.NewEnv()
	defer env.Close()
	type payment struct {
		Card   string
		Amount float64
	}
	env.FromSlice("payments", []payment{{"4000123412341234", 12.5}, {"4000987698769876", 7}, {"4000123412341234", 30}})
	env.Register(table.ScalarFunc("mask", func(card string) string { return "…" + card[len(card)-4:] }))

	for p, err := range env.Query[payment](ctx, "SELECT mask(card) AS card, SUM(amount) AS amount FROM payments GROUP BY card ORDER BY amount") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.Card, p.Amount)
	}
	// Output:
	// …9876 7
	// …1234 42.5
}

func ExampleEnv_Execute() {
	ctx := context.Background()
	env := table.NewEnv()
	defer env.Close()
	err := env.Execute(ctx, `
		CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '3', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '3');
		CREATE TEMPORARY VIEW squares AS SELECT n * n AS square FROM numbers`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(env.Collect[int64](ctx, "SELECT SUM(square) FROM squares"))
	// Output: [14] <nil>
}

func ExampleEnv_Query() {
	env := table.NewEnv()
	defer env.Close()
	for row, err := range env.Query[[]string](context.Background(), "SELECT * FROM (VALUES (1, 'one'), (2, NULL)) AS t(n, word) ORDER BY n") {
		fmt.Println(row, err)
	}
	// Output:
	// [1 one] <nil>
	// [2 NULL] <nil>
}

func ExampleEnv_FromSlice() {
	env := table.NewEnv()
	defer env.Close()
	env.FromSlice("words", []string{"to", "be", "or", "not", "to", "be"})
	fmt.Println(env.Collect[[]string](context.Background(), "SELECT `value`, COUNT(*) FROM words GROUP BY `value` HAVING COUNT(*) > 1 ORDER BY 1"))
	// Output: [[be 2] [to 2]] <nil>
}

func ExampleScalarFunc() {
	env := table.NewEnv()
	defer env.Close()
	env.Register(
		table.ScalarFunc("squash", strings.ToLower, table.Doc("The text in lower case.")),
		// A pointer may be NULL, and an error fails the job.
		table.ScalarFunc("root", func(x *float64) (*float64, error) {
			switch {
			case x == nil:
				return nil, nil
			case *x < 0:
				return nil, fmt.Errorf("%v has no root", *x)
			}
			r := math.Sqrt(*x)
			return &r, nil
		}),
	)
	fmt.Println(env.Collect[[]string](context.Background(), "SELECT squash('ABC'), root(16), root(CAST(NULL AS DOUBLE))"))
	_, err := env.Collect[float64](context.Background(), "SELECT root(-x) FROM (VALUES (1.0)) AS t(x)")
	fmt.Println(strings.Contains(err.Error(), "function root: -1 has no root"))
	// Output:
	// [[abc 4.0 NULL]] <nil>
	// true
}

func ExampleTableFunc() {
	env := table.NewEnv()
	defer env.Close()
	env.Register(table.TableFunc("words", strings.FieldsSeq))
	query := "SELECT id, word FROM (VALUES (1, 'to be'), (2, '')) AS t(id, line) LEFT JOIN LATERAL TABLE(words(line)) AS s(word) ON TRUE ORDER BY id, word"
	fmt.Println(env.Collect[[]string](context.Background(), query))
	// Output: [[1 be] [1 to] [2 NULL]] <nil>
}

func ExampleAggregateFunc() {
	type weighted struct {
		Value  float64
		Weight int64
	}
	type total struct {
		Sum    float64
		Weight int64
	}
	env := table.NewEnv()
	defer env.Close()
	env.Register(table.AggregateFunc("weighted_avg", stream.Aggregator[weighted, total, *float64]{
		Add:   func(acc *total, v weighted) { acc.Sum += v.Value * float64(v.Weight); acc.Weight += v.Weight },
		Merge: func(acc *total, other total) { acc.Sum += other.Sum; acc.Weight += other.Weight },
		Result: func(acc *total) *float64 {
			if acc.Weight == 0 {
				return nil
			}
			mean := acc.Sum / float64(acc.Weight)
			return &mean
		},
	}))
	query := "SELECT k, weighted_avg(v, w) FROM (VALUES ('a', 1.0, 1), ('a', 4.0, 2), ('b', 7.0, 0)) AS t(k, v, w) GROUP BY k ORDER BY k"
	fmt.Println(env.Collect[[]string](context.Background(), query))
	// Output: [[a 3.0] [b NULL]] <nil>
}
