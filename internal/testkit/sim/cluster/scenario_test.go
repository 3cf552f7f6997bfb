package cluster

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/resourcemanager/slotmanager"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor/slottable"
	"github.com/weirstream/weir/internal/testkit/sim"
)

// A scenario is a world in which nothing happens but what its test does: two
// TaskManagers of two slots each, a ResourceManager of its own, Flink's times, and
// one job of two tasks in two slots that is restarted at once whenever it fails.
type scenario struct {
	*Cluster
	t   *testing.T
	job *job
}

func play(t *testing.T, change func(*settings)) *scenario {
	t.Helper()
	c := newCluster(1)
	c.settings = settings{split: true, calm: true, packed: true, slots: []int{2, 2}, interval: 10 * time.Second, timeout: 50 * time.Second, threshold: 2,
		cancellation: 30 * time.Second, registration: 5 * time.Minute, slotRequest: 5 * time.Minute, slotIdle: 50 * time.Second, jobTimeout: 5 * time.Minute,
		restarts: restarts{rand: rand.New(rand.NewPCG(1, 1)), persistence: endless}}
	if change != nil {
		change(&c.settings)
	}
	c.ills.drift = false
	c.machines = nil
	for i, n := range c.settings.slots {
		m := &machine{name: fmt.Sprintf("tm%d", i+1), slots: n}
		m.id = ident.ResourceID(m.name)
		c.machines = append(c.machines, m)
	}
	c.world.Observe(c.checks.after)
	c.start()
	s := &scenario{Cluster: c, t: t}
	s.pass(5 * time.Second)
	s.job = c.newJob(false, 2)
	source := ident.VertexID{ID: ident.ID{1}}
	s.job.graph.Vertices = []*jobgraph.Vertex{{ID: source, Name: "Source", Parallelism: 2, MaxParallelism: 2, SlotSharingGroup: "default",
		Operators: []*jobgraph.Operator{{ID: ident.OperatorID{ID: ident.ID{1}}, Name: "Source", Digest: "d"}}}}
	s.job.graph.Configuration = map[string]string{"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "100",
		"restart-strategy.fixed-delay.delay": "0 s"}
	s.job.needs = 2
	c.submit(s.job, 0)
	s.pass(20 * time.Second)
	s.runs(0)
	return s
}

// pass lets time go by, in which no invariant may break.
func (s *scenario) pass(d time.Duration) {
	s.t.Helper()
	if !s.until(d) {
		s.t.Fatalf("%v\n%s", s.checks.first, strings.Join(s.world.Trace().Last(shown), "\n"))
	}
}

func (s *scenario) view() execgraph.View {
	for _, w := range s.master.jobs {
		if w.graph == s.job.graph {
			return w.master.View()
		}
	}
	s.t.Fatal("the master does not know the job")
	return execgraph.View{}
}

// runs wants the job to run, each task in that attempt.
func (s *scenario) runs(attempt int) {
	s.t.Helper()
	v := s.view()
	for i := range v.Vertices[0].Subtasks {
		sub := &v.Vertices[0].Subtasks[i]
		if v.State != status.JobRunning || sub.State != status.Running || sub.ID.Attempt != attempt {
			s.t.Fatalf("at %s the job is %s, and attempt %d of subtask %d is %s; want attempt %d RUNNING; failures: %v", s.world.Now(), v.State, sub.ID.Attempt, i, sub.State, attempt, v.Failures)
		}
	}
}

// home is the machine that runs the whole job.
func (s *scenario) home() *machine {
	s.t.Helper()
	for _, m := range s.machines {
		if m.current != nil && len(m.current.executor.View().Slots) == 2 {
			return m
		}
	}
	s.t.Fatal("no TaskManager runs the whole job")
	return nil
}

// agree wants all sides to agree about the slots.
func (s *scenario) agree() {
	s.t.Helper()
	if !s.checks.settled() {
		s.t.Fatal(s.checks.first)
	}
}

// A TaskManager that was frozen for longer than the time-out counts as lost. When it
// thaws it finds out: its tasks die and its slots are given back.
func TestAFrozenTaskManagerIsFenced(t *testing.T) {
	s := play(t, nil)
	home := s.home()
	home.current.proc.Freeze(90 * time.Second)
	s.pass(70 * time.Second)
	s.runs(1)
	for _, m := range s.machines {
		if n := len(m.current.executor.View().Slots); n != 2 {
			t.Fatalf("TaskManager %s has %d slots in use; the frozen one does not know better, and the other has the job", m.name, n)
		}
	}
	if n := len(s.checks.code.running); n != 4 {
		t.Fatalf("%d tasks run; the two that nobody could stop and the two in their place should", n)
	}
	s.pass(20*time.Second + s.settings.timeout + s.settings.cancellation)
	s.runs(1)
	if n := len(s.checks.code.running); n != 2 {
		t.Errorf("%d tasks run after the TaskManager thawed", n)
	}
	if v := home.current.executor.View(); len(v.Slots)+len(v.Jobs)+v.Workers != 0 {
		t.Errorf("the TaskManager holds %+v", v)
	}
	s.agree()
}

// A JobMaster that loses its ResourceManager registers at the next one and declares
// again; its tasks do not notice, and the next one learns from the TaskManagers
// which slots they hold.
func TestAJobMasterFindsTheNextResourceManager(t *testing.T) {
	s := play(t, nil)
	s.endManager(false)
	s.pass(2 * time.Minute)
	s.runs(0)
	s.agree()
	if n := s.manager.Slots().Needed(s.job.id); n != 2 {
		t.Errorf("the next ResourceManager believes that the job needs %d slots", n)
	}
}

// A JobMaster and a ResourceManager that cannot reach each other for a while meet
// again, and the tasks go on.
func TestAJobMasterIsCutOffFromItsResourceManager(t *testing.T) {
	s := play(t, nil)
	s.world.Cut(masterName, managerName, false)
	s.world.Cut(managerName, masterName, false)
	s.pass(2 * time.Minute)
	s.runs(0)
	s.world.Heal(masterName, managerName)
	s.world.Heal(managerName, masterName)
	s.pass(time.Minute)
	s.runs(0)
	s.agree()
}

// A TaskManager that finds no ResourceManager goes on for
// taskmanager.registration.timeout and then ends itself, with its tasks.
func TestATaskManagerWithoutResourceManagerEndsItself(t *testing.T) {
	s := play(t, nil)
	home := s.home()
	s.world.Cut(home.name, managerName, false)
	s.world.Cut(managerName, home.name, false)
	life := home.current.proc
	s.pass(s.settings.registration)
	if !life.Alive() {
		t.Fatal("it has ended already")
	}
	s.runs(0)
	s.pass(2 * s.settings.timeout)
	if life.Alive() {
		t.Fatal("it is still there")
	}
	s.pass(time.Minute)
	s.runs(1)
}

// A TaskManager that loses a JobMaster fails the job's tasks, keeps its slots for it
// and looks for it; the JobMaster finds the slots there when the two meet again.
func TestATaskManagerThatLosesAJobMasterKeepsItsSlots(t *testing.T) {
	s := play(t, nil)
	home := s.home()
	allocations := home.current.executor.View().Slots
	s.world.Cut(home.name, masterName, false)
	s.world.Cut(masterName, home.name, false)
	lost := func() bool {
		jobs := home.current.executor.View().Jobs
		return len(jobs) == 1 && !jobs[0].Connected
	}
	for !lost() {
		s.pass(time.Second)
		if s.world.Now() > 3*time.Minute {
			t.Fatal("the TaskManager does not notice that its JobMaster is gone")
		}
	}
	s.pass(4 * time.Second)
	for i, slot := range home.current.executor.View().Slots {
		if slot.State != slottable.Allocated || slot.Allocation != allocations[i].Allocation {
			t.Errorf("slot %d is %s for allocation %s", slot.Index, slot.State, slot.Allocation)
		}
	}
	for _, r := range s.checks.code.running {
		if r.task.worker.tm.machine == home && !r.stop && !r.task.worker.told {
			t.Errorf("%s was not told to stop", r.task.attempt)
		}
	}
	s.world.Heal(home.name, masterName)
	s.world.Heal(masterName, home.name)
	s.pass(2 * time.Minute)
	s.runs(1)
	s.agree()
}

// A slot that is freed while the ResourceManager cannot be told is free there, too,
// after the next heartbeat.
func TestAFreedSlotIsLearntOfFromTheHeartbeat(t *testing.T) {
	s := play(t, nil)
	s.world.SetWeather(sim.Weather{Aimed: gateway.NotifySlotAvailable.Name, LoseAimed: 1})
	s.cancel(s.job, 0)
	s.pass(3 * time.Second)
	if registered, free := s.manager.Slots().Slots(); registered != 4 || free != 2 {
		t.Fatalf("%d slots, %d free: the ResourceManager was told", registered, free)
	}
	s.pass(2 * s.settings.interval)
	if registered, free := s.manager.Slots().Slots(); registered != 4 || free != 4 {
		t.Errorf("%d slots, %d free", registered, free)
	}
}

// A slot whose reservation was not answered is found in the next report.
func TestAReservationWhoseAnswerIsLostHolds(t *testing.T) {
	s := play(t, nil)
	s.world.LoseAnswers(gateway.RequestSlot.Name, 1)
	other := s.newJob(false, 1)
	other.graph.Vertices = []*jobgraph.Vertex{{ID: ident.VertexID{ID: ident.ID{2}}, Name: "Other", Parallelism: 1, MaxParallelism: 1, SlotSharingGroup: "default",
		Operators: []*jobgraph.Operator{{ID: ident.OperatorID{ID: ident.ID{2}}, Name: "Other", Digest: "d"}}}}
	other.needs = 1
	s.submit(other, 0)
	s.pass(30 * time.Second)
	s.agree()
	held := 0
	for _, tm := range s.manager.Slots().TaskExecutors() {
		for _, slot := range tm.Slots {
			if slot.State == slotmanager.Allocated && slot.Job == other.id {
				held++
			}
		}
	}
	if held != 1 {
		t.Errorf("the ResourceManager believes that the job has %d slots", held)
	}
}

// A TaskManager that came back under its name, before anybody missed it, knows
// neither the job nor its slots: the ResourceManager learns it at once, and the
// JobMaster when nobody has answered for its time-out.
func TestATaskManagerThatForgotItsJobsIsLost(t *testing.T) {
	s := play(t, nil)
	home := s.home()
	t1 := home.current
	home.current = nil
	t1.proc.Crash(true)
	for len(home.workers) > 0 {
		home.workers[0].die()
	}
	s.startTaskManager(home)
	s.pass(s.settings.timeout + s.settings.interval + 10*time.Second)
	s.runs(1)
	s.pass(time.Minute)
	s.agree()
}

// Tasks whose cancellation is lost are stopped when a heartbeat lists them.
func TestATaskThatShouldNotRunIsStoppedByTheHeartbeat(t *testing.T) {
	s := play(t, nil)
	s.world.SetWeather(sim.Weather{Aimed: gateway.CancelTask.Name, LoseAimed: 1})
	s.master.loop.Post(func() { s.master.jobs[0].master.Fail(errCoordinator) })
	s.pass(time.Minute)
	if v := s.view(); v.State != status.JobRestarting {
		t.Fatalf("the job is %s: its tasks were stopped", v.State)
	}
	s.fairWeather()
	s.pass(2*s.settings.interval + 10*time.Second)
	s.runs(1)
	s.agree()
}

// A task that does not react to its cancellation costs its worker, after
// task.cancellation.timeout, and no more.
func TestATaskThatHangsCostsItsWorker(t *testing.T) {
	s := play(t, nil)
	s.settings.bad.hang = 1
	home := s.home()
	s.cancel(s.job, 0)
	s.pass(s.settings.cancellation - time.Second)
	if v := s.view(); v.State != status.JobCancelling || len(home.workers) != 1 {
		t.Fatalf("the job is %s, with %d workers", v.State, len(home.workers))
	}
	s.pass(10 * time.Second)
	if v := s.view(); v.State != status.JobCanceled || len(home.workers) != 0 || !home.current.proc.Alive() {
		t.Errorf("the job is %s, with %d workers", v.State, len(home.workers))
	}
}
