package heartbeat

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// TestScripts runs the stories under testdata. A script's commands:
//
//	manager [interval=10s] [timeout=50s] [threshold=2]   a new manager
//	monitor [timeout=50s]                                a new monitor
//	add NAME, remove NAME, stop                          of whichever was made last
//	hint NAME                                            PingNow
//	answer NAME, unreachable NAME, fail NAME             the outcome of its oldest open ping
//	beat NAME                                            a ping arrives at the monitor
//	tick DURATION
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{loop: &scriptLoop{now: time.Unix(0, 0)}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.run(t, d)
			defer s.out.Reset()
			if s.out.Len() == 0 {
				return "ok\n"
			}
			return s.out.String()
		})
	})
}

var errUnreachable = errors.New("unreachable")

type script struct {
	loop    *scriptLoop
	manager *Manager[string]
	monitor *Monitor[string]
	open    map[string][]func(error) // pings without outcome, oldest first
	out     strings.Builder
}

func (s *script) say(format string, args ...any) {
	fmt.Fprintf(&s.out, "%s: %s\n", s.loop.now.Sub(time.Unix(0, 0)), fmt.Sprintf(format, args...))
}

func (s *script) run(t *testing.T, d *datadriven.TestData) {
	name := ""
	if len(d.CmdArgs) > 0 {
		name = d.CmdArgs[0].Key
	}
	switch d.Cmd {
	case "manager":
		o := Options{
			Interval: duration(t, d, "interval", 10*time.Second), Timeout: duration(t, d, "timeout", 50*time.Second),
			FailureThreshold: 2, Unreachable: func(err error) bool { return err == errUnreachable },
		}
		if v := option(d, "threshold"); v != "" {
			o.FailureThreshold, _ = strconv.Atoi(v)
		}
		s.open = map[string][]func(error){}
		s.monitor, s.manager = nil, NewManager(s.loop, o, func(target string, done func(error)) {
			s.say("ping %s", target)
			s.open[target] = append(s.open[target], done)
		}, func(target string, loss *Loss) { s.say("%s is dead: %v", target, loss) })
	case "monitor":
		s.manager, s.monitor = nil, NewMonitor(s.loop, duration(t, d, "timeout", 50*time.Second), func(pinger string) { s.say("%s is lost", pinger) })
	case "add", "remove":
		s.target()[d.Cmd](name)
	case "stop":
		s.target()["stop"]("")
	case "hint":
		s.manager.PingNow(name)
	case "answer", "unreachable", "fail":
		done := s.open[name][0]
		s.open[name] = s.open[name][1:]
		done(map[string]error{"answer": nil, "unreachable": errUnreachable, "fail": errors.New("no answer in time")}[d.Cmd])
	case "beat":
		if !s.monitor.Beat(name) {
			s.say("%s is unknown", name)
		}
	case "tick":
		by, err := time.ParseDuration(name)
		if err != nil {
			d.Fatalf(t, "tick: %v", err)
		}
		s.loop.advance(by)
	default:
		d.Fatalf(t, "no such command")
	}
}

func (s *script) target() map[string]func(string) {
	if s.manager != nil {
		return map[string]func(string){"add": s.manager.Add, "remove": s.manager.Remove, "stop": func(string) { s.manager.Stop() }}
	}
	return map[string]func(string){"add": s.monitor.Add, "remove": s.monitor.Remove, "stop": func(string) { s.monitor.Stop() }}
}

func option(d *datadriven.TestData, key string) string {
	for _, arg := range d.CmdArgs {
		if arg.Key == key && len(arg.Vals) == 1 {
			return arg.Vals[0]
		}
	}
	return ""
}

func duration(t *testing.T, d *datadriven.TestData, key string, otherwise time.Duration) time.Duration {
	text := option(d, key)
	if text == "" {
		return otherwise
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%s: %v", key, err)
	}
	return v
}

// A process that is killed is dead to a manager that watches it before any
// timer fires: the clock of the bubble does not move.
func TestKilledProcessIsNoticedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ping := rpc.Method[*pb.Empty, *pb.Empty]{Name: "Test/Ping"}
		net := rpc.NewMemory()
		master, worker := net.System("master"), net.System("worker")
		defer master.Close()
		masterLoop, workerLoop := actor.Start("master"), actor.Start("worker")
		defer masterLoop.Close()
		defer workerLoop.Close()
		mux := &rpc.Mux{}
		rpc.Handle(mux, ping, func(_ *pb.Empty, reply func(*pb.Empty, error)) { reply(&pb.Empty{}, nil) })
		worker.Serve("worker", workerLoop, mux)

		at := rpc.Address{Process: worker.Self(), Endpoint: "worker"}
		start := time.Now()
		died := make(chan *Loss, 1)
		masterLoop.Post(func() {
			m := NewManager(masterLoop, Options{
				Interval: 10 * time.Second, Timeout: 50 * time.Second, FailureThreshold: 2,
				Unreachable: func(err error) bool { return errors.Is(err, rpc.ErrUnreachable) },
			}, func(to rpc.Address, done func(error)) {
				ping.Call(master, masterLoop, to, ident.LeaderID{}, &pb.Empty{}, 50*time.Second, func(_ *pb.Empty, err error) { done(err) })
			}, func(_ rpc.Address, loss *Loss) { died <- loss })
			m.Add(at)
			master.Watch(masterLoop, at.Process, func(error) { m.PingNow(at) })
		})
		time.Sleep(25 * time.Second)
		worker.Close()
		loss := <-died
		if !loss.Unreachable || loss.Failures != 2 || !errors.Is(loss, rpc.ErrUnreachable) {
			t.Errorf("lost because %v", loss)
		}
		if took := time.Since(start) - 25*time.Second; took != 0 {
			t.Errorf("noticed after %s", took)
		}
	})
}
