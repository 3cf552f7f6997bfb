// Fraud holds payments against rules that can be changed while it runs: a rule says how
// many cents an account may spend at most within some minutes.
//
//	fraud --payments "payments/*.csv" --rules "rules/*.csv"
//
// A payment is account,time,cents, a rule name,cents,minutes; a rule of 0 cents takes
// the one of its name away. Rules go to every subtask, as broadcast state.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/format/csv"
	"github.com/weirstream/weir/stream"
)

func main() {
	log.SetFlags(0)
	payments := flag.String("payments", "", "`glob` of files with payments")
	rules := flag.String("rules", "", "`glob` of files with rules")
	flag.Parse()
	if *payments == "" || *rules == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	env := stream.NewEnv()
	alerts(
		stream.FromSource(env, files.Source[payment]{Paths: []string{*payments}, Format: csv.Format[payment]{}}),
		stream.FromSource(env, files.Source[rule]{Paths: []string{*rules}, Format: csv.Format[rule]{}}),
	).Print().Parallelism(1)
	if err := env.Execute(ctx, "fraud"); err != nil {
		log.Fatalf("fraud: %v", err)
	}
}

type payment struct {
	Account string
	At      time.Time
	Cents   int64
}

type rule struct {
	Name           string
	Cents, Minutes int64
}

// alerts names the payments with which an account breaks a rule.
func alerts(payments stream.DataStream[payment], rules stream.DataStream[rule]) stream.DataStream[string] {
	return payments.
		Watermarks(stream.BoundedOutOfOrderness(time.Minute, func(p payment) time.Time { return p.At })).
		KeyBy(func(p payment) string { return p.Account }).
		ConnectBroadcast(rules).
		Process(func() stream.KeyedBroadcastProcessFunction[string, payment, rule, string] { return &guard{} }).Name("Guard")
}

// guard knows the rules, and each account's payments of the longest time that a rule
// may look back.
type guard struct {
	rules *stream.BroadcastState[string, rule]
	spent *stream.MapState[int64, int64] // cents, by the millisecond
}

const lookBack = 24 * time.Hour

func (g *guard) Open(c *stream.OpenContext) error {
	g.rules = stream.NewBroadcastState[string, rule](c, "rules")
	g.spent = stream.NewMapState[int64, int64](c, "spent")
	return nil
}

func (g *guard) ProcessBroadcast(r rule, c *stream.KeyedBroadcastContext[string], _ func(string)) error {
	switch longest := int64(lookBack.Minutes()); {
	case r.Cents == 0:
		g.rules.Remove(c, r.Name)
	case r.Minutes < 1 || r.Minutes > longest:
		return fmt.Errorf("rule %q: got %d minutes, want 1 to %d", r.Name, r.Minutes, longest)
	default:
		g.rules.Put(c, r.Name, r)
	}
	return nil
}

func (g *guard) Process(p payment, c *stream.KeyedContext[string], emit func(string)) error {
	now := p.At.UnixMilli()
	before, _ := g.spent.Get(now)
	g.spent.Put(now, before+p.Cents)
	c.RegisterEventTimer(p.At.Add(lookBack))
	for name, r := range g.rules.All() {
		sum := int64(0)
		for at, cents := range g.spent.All() {
			if at <= now && at > now-r.Minutes*60_000 {
				sum += cents
			}
		}
		if sum > r.Cents {
			emit(fmt.Sprintf("%s breaks %q at %s: %d cents in %d minutes", p.Account, name, p.At.Format(time.RFC3339), sum, r.Minutes))
		}
	}
	return nil
}

// OnTimer forgets a payment that no rule looks back to.
func (g *guard) OnTimer(t stream.Timer, _ *stream.KeyedContext[string], _ func(string)) error {
	g.spent.Remove(t.At.Add(-lookBack).UnixMilli())
	return nil
}
