package chaos

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/testkit/processes"
)

var (
	planned = flag.Int("faults", 8, "faults of processes to inject; one of the network comes on top for every three")
	seed    = flag.Uint64("seed", 0, "seed that chooses the faults and their times; 0 draws one")
)

// bin is where TestMain has built the programs.
var bin string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weir-chaos-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	if err := processes.Build(dir, "cmd/weir", "test/chaos/jobs", "test/chaos/streams", "test/chaos/oracle"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// TestChaos runs rounds: each submits a bounded job, injects some faults into the
// cluster while it runs, and checks its answer and that the endless job goes on.
func TestChaos(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64N(1_000_000_000)
	}
	began, ofProcesses, ofNetwork := time.Now(), *planned, 0
	r := &run{t: &failures{T: t}}
	var network []*kind
	t.Cleanup(func() { // when the cluster has been ended and its logs are shown
		fmt.Printf("chaos: seed %d, %d faults of processes and %d of the network, of %d and %d planned, in %.0f s: %v; %d bounded jobs, of which %d restarted, %d wrong results; the endless job restarted %d times\n",
			*seed, r.f.total(processKinds), r.f.total(network), ofProcesses, ofNetwork, time.Since(began).Seconds(), r.f, r.jobs, r.met, r.wrong, r.restarts)
		if t.Failed() {
			fmt.Printf("chaos: the same faults again: make chaos FAULTS=%d SEED=%d\n%s\n", *planned, *seed, strings.Join(r.t.said, "\n"))
		}
	})
	r.c = start(r.t, 4)
	r.f = &faults{c: r.c, random: rand.New(rand.NewPCG(*seed, 0)), injected: map[string]int{}, harmed: map[int]bool{}}
	if network = networkKinds(r.c); len(network) > 0 {
		ofNetwork = *planned / 3
	}
	r.endless = r.c.submit("jobs", "4", modes[0].options, "endless")
	r.c.running(r.endless)
	left := append(plan(r.f.random, ofProcesses, processKinds), plan(r.f.random, ofNetwork, network)...)
	r.f.random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	for len(left) > 0 {
		n := min(len(left), 2+r.f.random.IntN(3))
		left = append(r.round(left[:n]), left[n:]...)
	}
	if *planned >= 2*len(processKinds) && (r.restarts == 0 || r.met == 0) {
		r.t.Errorf("faults have met the endless job %d times, and %d of the others: want some of both", r.restarts, r.met)
	}
	if got := r.f.total(processKinds); got < ofProcesses {
		r.t.Errorf("injected %d faults of processes, want %d", got, ofProcesses)
	}
	if got := r.f.total(network); got < ofNetwork {
		r.t.Errorf("injected %d faults of the network, want %d", got, ofNetwork)
	}
}

// run is one run of rounds.
type run struct {
	t        *failures
	c        *cluster
	f        *faults
	endless  string // the id of the job that never ends
	jobs     int    // bounded ones that have ended
	met      int    // those that were restarted
	wrong    int    // those with a wrong answer
	newest   int    // attempt of the endless job, which counts from 0 with each submission
	restarts int    // of the endless job
}

// round injects faults while a bounded job runs, and gives back those that could
// not be injected yet. The jobs of a master that is killed are gone, since there
// is no high availability: they are submitted to its successor.
func (r *run) round(kinds []*kind) (later []*kind) {
	r.t.Helper()
	began, master := time.Now(), r.c.masters
	b, mode := next(r.jobs)
	dir := r.t.TempDir()
	var glob []string
	if b.prepare != nil {
		glob = append(glob, b.prepare(r.t.T, dir, b.n))
	}
	output := filepath.Join(dir, "out")
	submit := func() string {
		return r.c.submit("jobs", "3", mode.options, append([]string{b.kind, strconv.Itoa(b.n), output}, glob...)...)
	}
	id := submit()
	var done []string
	for _, k := range kinds {
		<-time.After(time.Duration(r.f.random.IntN(1200)) * time.Millisecond)
		if !r.f.inject(k) {
			later = append(later, k)
			continue
		}
		done = append(done, k.name)
	}
	r.f.undo()
	r.c.allRegistered()
	if r.c.masters != master {
		r.endless, r.newest = r.c.submit("jobs", "4", modes[0].options, "endless"), 0
		output = filepath.Join(dir, "again")
		id = submit()
	}
	r.c.finished(id)
	if r.c.attempt(id) > 0 {
		r.met++
	}
	r.c.running(r.endless)
	r.c.progresses(r.endless)
	r.c.onlyJob(r.endless, 4)
	newest := r.c.attempt(r.endless)
	r.restarts, r.newest = r.restarts+newest-r.newest, newest
	r.t.Logf("%s, %s, %s: %.1f s", b.kind, mode.name, strings.Join(done, " and "), time.Since(began).Seconds())
	r.jobs++
	got, err := processes.Lines(output)
	if err != nil {
		r.t.Fatal(err)
	}
	want := b.answer(b.n)
	slices.Sort(want)
	if what := difference(got, want); what != "" {
		r.wrong++
		r.t.Errorf("%s of %d, %s, after %q: got %d lines, want %d: %s", b.kind, b.n, mode.name, done, len(got), len(want), what)
	}
	return later
}
