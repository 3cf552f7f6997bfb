package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/weirstream/weir/bench/figure"
	"github.com/weirstream/weir/client"
)

// How often each failure is measured.
const (
	kills    = 20
	failures = 20
	freezes  = 5
)

// The heartbeats of the cluster in which TaskManagers are frozen.
const (
	heartbeatInterval = time.Second
	heartbeatTimeout  = 4 * time.Second
)

// MeasureFailover measures how soon a job runs again after failures, with a
// restart delay of 0, and what a blocking exchange costs. Text is a glob of the
// files whose words are counted.
func MeasureFailover(ctx context.Context, p Programs, text string, log io.Writer) Measurement {
	m := Measurement{figure.Values{}, map[string]error{}}
	m.make(log, []part{
		{[]string{"task failed"}, func() error { return m.withFragile(ctx, p, nil, m.failTasks) }},
		{[]string{"TaskManager killed", "TaskManager killed, worst"}, func() error { return m.withFragile(ctx, p, nil, m.killManagers) }},
		{[]string{"TaskManager frozen", "TaskManager thawed"}, func() error {
			return m.withFragile(ctx, p, []string{
				fmt.Sprintf("heartbeat.interval=%d ms", heartbeatInterval.Milliseconds()),
				fmt.Sprintf("heartbeat.timeout=%d ms", heartbeatTimeout.Milliseconds()),
			}, m.freezeManagers)
		}},
		{[]string{"blocking exchange"}, func() error { return m.exchange(ctx, p, text) }},
	})
	return m
}

// fragile is a running job of three subtasks in two slots, on a cluster of three
// TaskManagers with a slot each.
type fragile struct {
	*Cluster
	server   *server
	job      string
	vertices []string
	attempt  int      // of all subtasks
	managers []string // of all subtasks
	ids      map[string]*exec.Cmd
}

// withFragile measures with a running job.
func (m *Measurement) withFragile(ctx context.Context, p Programs, options []string, measure func(context.Context, *fragile) error) (err error) {
	options = append(options, "restart-strategy.type=fixed-delay", "restart-strategy.fixed-delay.attempts=1000000", "restart-strategy.fixed-delay.delay=0 s")
	c, err := Start(ctx, p.Weir, 0, 1, options...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	f := &fragile{Cluster: c, ids: map[string]*exec.Cmd{}}
	for range 3 {
		if err := f.addManager(ctx); err != nil {
			return err
		}
	}
	if f.server, err = serve(); err != nil {
		return err
	}
	defer f.server.close()
	if err := f.submit(ctx, p.Job, client.RunRequest{Arguments: []string{"fragile", "address=" + f.server.address()}, Parallelism: 2}); err != nil {
		return err
	}
	return measure(ctx, f)
}

// addManager starts one more TaskManager, under a name that none had before.
func (f *fragile) addManager(ctx context.Context) error {
	id := fmt.Sprintf("taskmanager-%d", f.begun)
	err := f.startTaskManager(ctx, "-D", "taskmanager.resource-id="+id)
	f.ids[id] = f.processes[len(f.processes)-1]
	return err
}

// submit returns when all tasks of the job run.
func (f *fragile) submit(ctx context.Context, program string, r client.RunRequest) error {
	file, err := os.Open(program)
	if err != nil {
		return fmt.Errorf("upload a program: %w", err)
	}
	defer file.Close()
	id, err := f.Upload(ctx, "job", file)
	if err != nil {
		return fmt.Errorf("upload a program: %w", err)
	}
	f.job, err = f.Run(ctx, id, r)
	if err != nil {
		return fmt.Errorf("run a program: %w", err)
	}
	d, err := f.Job(ctx, f.job)
	if err != nil {
		return fmt.Errorf("look at a job: %w", err)
	}
	for _, v := range d.Vertices {
		f.vertices = append(f.vertices, v.ID)
	}
	f.attempt = -1
	return f.untilRestarted(ctx)
}

// untilRestarted returns when all tasks run in a newer attempt than before.
func (f *fragile) untilRestarted(ctx context.Context) error {
	var failed error
	err := f.until(ctx, "all tasks to run again", func() bool {
		all, attempt, managers, err := f.running(ctx, f.job, f.vertices, f.attempt)
		if failed = err; all {
			f.attempt, f.managers = attempt, managers
		}
		return all || err != nil
	})
	return errors.Join(err, failed)
}

// failTasks lets a task of the job fail, again and again.
func (m *Measurement) failTasks(ctx context.Context, f *fragile) error {
	for i := range warmUps + failures {
		begin := time.Now()
		if err := f.server.say(ctx, "fail\n"); err != nil {
			return err
		}
		if err := f.untilRestarted(ctx); err != nil {
			return err
		}
		if i >= warmUps {
			m.Add("task failed", milliseconds(begin))
		}
	}
	return nil
}

// killOne kills one of the TaskManagers that run tasks of the job, and starts another
// when the job runs again. It gives the milliseconds until then.
func (f *fragile) killOne(ctx context.Context, which int) (took float64, err error) {
	id := f.managers[which%len(f.managers)]
	victim := f.ids[id]
	begin := time.Now()
	if err := victim.Process.Kill(); err != nil {
		return 0, fmt.Errorf("kill a TaskManager: %w", err)
	}
	if err := f.untilRestarted(ctx); err != nil {
		return 0, err
	}
	took = milliseconds(begin)
	_ = victim.Wait() // it was killed
	f.processes = slices.DeleteFunc(f.processes, func(p *exec.Cmd) bool { return p == victim })
	if slices.Contains(f.managers, id) {
		return 0, fmt.Errorf("the killed TaskManager %s is said to run tasks", id)
	}
	return took, f.addManager(ctx)
}

// killManagers kills a TaskManager that runs tasks of the job, and starts another
// when the job runs again, so that there is always a slot to spare.
func (m *Measurement) killManagers(ctx context.Context, f *fragile) error {
	var worst float64
	for i := range warmUps + kills {
		took, err := f.killOne(ctx, i)
		if err != nil {
			return err
		}
		if i >= warmUps {
			m.Add("TaskManager killed", took)
			worst = max(worst, took)
		}
	}
	m.Add("TaskManager killed, worst", worst)
	return nil
}

// freezeManagers stops TaskManagers that run tasks of the job, until both the
// ResourceManager and the JobMaster have found them lost and the job runs on
// others. Resumed, such a TaskManager must register anew and give up the tasks it
// had, and nothing may happen to the job.
func (m *Measurement) freezeManagers(ctx context.Context, f *fragile) error {
	for i := range freezes {
		id := f.managers[i%len(f.managers)]
		victim := f.ids[id].Process
		begin := time.Now()
		if err := victim.Signal(syscall.SIGSTOP); err != nil {
			return fmt.Errorf("stop a TaskManager: %w", err)
		}
		err := f.untilManagers(ctx, len(f.processes)-2)
		if err == nil {
			err = f.untilAttempt(ctx)
		}
		found := time.Since(begin).Seconds()
		if err == nil {
			err = f.untilRestarted(ctx)
		}
		begin = time.Now()
		if err := errors.Join(err, victim.Signal(syscall.SIGCONT)); err != nil {
			return err
		}
		if err := f.untilManagers(ctx, len(f.processes)-1); err != nil {
			return err
		}
		thawed := milliseconds(begin)
		if err := f.fenced(ctx, id); err != nil {
			return err
		}
		m.Add("TaskManager frozen", found)
		m.Add("TaskManager thawed", thawed)
	}
	return nil
}

func (f *fragile) untilManagers(ctx context.Context, want int) error {
	return f.until(ctx, fmt.Sprintf("%d registered TaskManagers", want), func() bool {
		o, err := f.Overview(ctx)
		return err == nil && o.TaskManagers == want
	})
}

// untilAttempt returns when a newer attempt exists: the JobMaster has noticed.
func (f *fragile) untilAttempt(ctx context.Context) error {
	return f.until(ctx, "a restart", func() bool {
		_, attempt, _, err := f.running(ctx, f.job, f.vertices, f.attempt)
		return err == nil && attempt > f.attempt
	})
}

// fenced checks that a resumed TaskManager has all of its slots free and that its
// worker ends, while the job's tasks run on as they were.
func (f *fragile) fenced(ctx context.Context, id string) error {
	err := f.until(ctx, "the resumed TaskManager's slot to be free and its worker to end", func() bool {
		o, err := f.Overview(ctx)
		left, treeErr := childCount(f.ids[id].Process.Pid)
		return err == nil && treeErr == nil && o.SlotsAvailable == 1 && left == 0
	})
	if err != nil {
		return err
	}
	all, attempt, managers, err := f.running(ctx, f.job, f.vertices, f.attempt-1)
	switch {
	case err != nil:
		return err
	case !all || attempt != f.attempt || slices.Contains(managers, id):
		return fmt.Errorf("after TaskManager %s was resumed the job's tasks ran in attempt %d at %q, want attempt %d elsewhere", id, attempt, managers, f.attempt)
	}
	return nil
}

// server is what the job reads from. It says nothing unless it is told to.
type server struct {
	listener net.Listener
	accepted chan net.Conn
	serving  sync.WaitGroup
}

func serve() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve a job: %w", err)
	}
	s := &server{listener: l, accepted: make(chan net.Conn, 1)}
	s.serving.Go(func() {
		defer close(s.accepted)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			select {
			case old := <-s.accepted: // whose task has ended
				old.Close()
			default:
			}
			s.accepted <- conn
		}
	})
	return s, nil
}

func (s *server) address() string { return s.listener.Addr().String() }

// say sends a text to the task that has connected last, and says goodbye to it.
func (s *server) say(ctx context.Context, text string) error {
	select {
	case conn := <-s.accepted:
		_, err := io.WriteString(conn, text)
		// The task fails before it can see that the connection has ended.
		time.AfterFunc(time.Second, func() { conn.Close() })
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *server) close() {
	s.listener.Close()
	s.serving.Wait()
	for conn := range s.accepted {
		conn.Close()
	}
}
