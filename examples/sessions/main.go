// Sessions tells how long each user of a site has stayed, and how many pages it has
// seen: a session ends when a user has done nothing for half an hour.
//
//	sessions --input "clicks/*.csv"
//
// A line is user,time,page, with a time as in 2024-05-17T09:30:00Z. Lines may come up
// to a minute late; what is later goes to standard error.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/weirstream/weir/stream"
)

func main() {
	log.SetFlags(0)
	input := flag.String("input", "", "`glob` of files with clicks; ** crosses directories")
	flag.Parse()
	if *input == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	env := stream.NewEnv(stream.Mode(stream.Streaming))
	sessions, late := sessionise(stream.ReadText(env, *input).Process(func() stream.ProcessFunction[string, click] { return parser{} }))
	sessions.Map(line).Print().Parallelism(1)
	late.ForEach(func(c click) error {
		_, err := fmt.Fprintln(os.Stderr, "too late:", c)
		return err
	})
	if err := env.Execute(ctx, "sessions"); err != nil {
		log.Fatalf("sessions: %v", err)
	}
}

// click is one line.
type click struct {
	User string
	At   time.Time
	Page string
}

// session is how many pages a user has seen, from when to when.
type session = stream.Windowed[string, int64]

const (
	gap   = 30 * time.Minute
	delay = time.Minute
)

// sessionise gives the sessions of all users, and the clicks that came too late.
func sessionise(clicks stream.DataStream[click]) (sessions stream.DataStream[session], late stream.DataStream[click]) {
	tooLate := stream.NewSideOutput[click]("late")
	sessions = clicks.
		Watermarks(stream.BoundedOutOfOrderness(delay, func(c click) time.Time { return c.At })).
		KeyBy(func(c click) string { return c.User }).
		Window(stream.Session(gap)).LateTo(tooLate).
		Count().Name("Sessions")
	return sessions, sessions.SideOutput(tooLate)
}

// line writes a session; it has lasted from its first click to its last.
func line(s session) string {
	return fmt.Sprintf("%s,%s,%s,%d", s.Key, s.Start.Format(time.RFC3339), s.End.Add(-gap).Sub(s.Start), s.Value)
}

// parser turns lines into clicks.
type parser struct{}

// Process fails on a line that is no click.
func (parser) Process(text string, _ *stream.ProcessContext, emit func(click)) error {
	fields := strings.Split(text, ",")
	if len(fields) != 3 {
		return fmt.Errorf("%q has %d fields, a click has 3: user,time,page", text, len(fields))
	}
	at, err := time.Parse(time.RFC3339, fields[1])
	if err != nil {
		return fmt.Errorf("click %q: %w", text, err)
	}
	emit(click{fields[0], at, fields[2]})
	return nil
}
