// Orders adds up what each customer has ordered, from files of comma-separated
// orders.
//
//	orders --input "orders/*.csv" [--output DIR]
//
// A line is order,customer,cents; one that begins with # is skipped. A line that is
// anything else is an error, and the job fails: a wrong sum is worse than none.
// With --output the sums are written as customer,cents into part files below DIR;
// without, they are printed.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/weirstream/weir/stream"
)

func main() {
	log.SetFlags(0)
	input := flag.String("input", "", "`glob` of files with orders; ** crosses directories")
	output := flag.String("output", "", "`directory` for the sums; without it they are printed")
	flag.Parse()
	if *input == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	env := stream.NewEnv()
	sums := addUp(stream.ReadText(env, *input))
	if *output != "" {
		sums.WriteText(*output, line)
	} else {
		sums.Map(line).Print().Parallelism(1)
	}
	if err := env.Execute(ctx, "orders"); err != nil {
		log.Fatalf("orders: %v", err)
	}
}

// order is one line.
type order struct {
	ID, Customer string
	Cents        int64
}

// sum is what a customer has ordered, in cents.
type sum = stream.Pair[string, int64]

func line(s sum) string { return s.Key + "," + strconv.FormatInt(s.Value, 10) }

// addUp gives each customer's sum.
func addUp(lines stream.DataStream[string]) stream.DataStream[sum] {
	return lines.
		Process(func() stream.ProcessFunction[string, order] { return parser{} }).Name("Parse Orders").
		KeyBy(func(o order) string { return o.Customer }).
		Sum(func(o order) int64 { return o.Cents }).Name("Sum per Customer")
}

// parser turns lines into orders.
type parser struct{}

// Process fails on a line that is no order.
func (parser) Process(text string, _ *stream.ProcessContext, emit func(order)) error {
	if text == "" || strings.HasPrefix(text, "#") {
		return nil
	}
	o, err := parse(text)
	if err != nil {
		return err
	}
	emit(o)
	return nil
}

func parse(text string) (order, error) {
	fields := strings.Split(text, ",")
	if len(fields) != 3 {
		return order{}, fmt.Errorf("%q has %d fields, an order has 3: order,customer,cents", text, len(fields))
	}
	cents, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return order{}, fmt.Errorf("order %s of %s: %q is no whole number of cents", fields[0], fields[1], fields[2])
	}
	return order{fields[0], fields[1], cents}, nil
}
