// Enrich puts the name and city of its customer beside each order. An order that comes
// before its customer waits; what is known of a customer may change.
//
//	enrich --orders "orders/*.csv" --customers "customers/*.csv"
//
// An order is id,customer,cents, a customer id,name,city. Both are keyed by the customer,
// so that one subtask sees both: it is a join of two streams with state.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"

	"github.com/weirstream/weir/stream"
)

func main() {
	log.SetFlags(0)
	orders := flag.String("orders", "", "`glob` of files with orders")
	customers := flag.String("customers", "", "`glob` of files with customers")
	flag.Parse()
	if *orders == "" || *customers == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	env := stream.NewEnv()
	enrich(stream.ReadText(env, *orders), stream.ReadText(env, *customers)).Print().Parallelism(1)
	if err := env.Execute(ctx, "enrich"); err != nil {
		log.Fatalf("enrich: %v", err)
	}
}

// row is a line of three fields.
type row [3]string

// enrich gives each order with its customer's name and city.
func enrich(orders, customers stream.DataStream[string]) stream.DataStream[string] {
	rows := func(lines stream.DataStream[string]) stream.DataStream[row] {
		return lines.Process(func() stream.ProcessFunction[string, row] { return splitter{} })
	}
	return rows(orders).Connect(rows(customers)).
		KeyBy(func(order row) string { return order[1] }, func(customer row) string { return customer[0] }).
		Process(func() stream.KeyedCoProcessFunction[string, row, row, string] { return &joiner{} }).Name("Enrich")
}

// joiner knows of each customer the latest row and the orders that wait for one.
type joiner struct {
	customer *stream.ValueState[row]
	waiting  *stream.ListState[row]
}

func (j *joiner) Open(c *stream.OpenContext) error {
	j.customer = stream.NewValueState[row](c, "customer")
	j.waiting = stream.NewListState[row](c, "waiting")
	return nil
}

// Process1 takes an order.
func (j *joiner) Process1(order row, _ *stream.KeyedContext[string], emit func(string)) error {
	if customer, known := j.customer.Value(); known {
		emit(together(order, customer))
	} else {
		j.waiting.Add(order)
	}
	return nil
}

// Process2 takes what is known of a customer from now on.
func (j *joiner) Process2(customer row, _ *stream.KeyedContext[string], emit func(string)) error {
	j.customer.Update(customer)
	for order := range j.waiting.All() {
		emit(together(order, customer))
	}
	j.waiting.Clear()
	return nil
}

func together(order, customer row) string {
	return strings.Join([]string{order[0], customer[1], customer[2], order[2]}, ",")
}

// splitter turns lines into rows.
type splitter struct{}

// Process fails on a line that has not three fields.
func (splitter) Process(line string, _ *stream.ProcessContext, emit func(row)) error {
	fields := strings.Split(line, ",")
	if len(fields) != 3 {
		return fmt.Errorf("%q has %d fields, want 3", line, len(fields))
	}
	emit(row(fields))
	return nil
}
