package sim

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/invariant"
)

// A Process is one life of a named process: from its start to its crash.
type Process struct {
	world  *World
	name   string
	host   string
	life   int // 1 for the first
	alive  bool
	frozen time.Duration // its loops do nothing before
	stands time.Duration // how long it has been frozen, or will have been then
	loops  []*Loop
	system *System
	text   string
	clock  clock
	disk   disk
}

// Start begins a life of the process name, which must not be alive, on a machine
// of its own. Others reach it as "sim:"+name.
func (w *World) Start(name string) *Process { return w.StartOn(name, name) }

// StartOn is Start on a machine that others share: between the processes of one
// machine no message is lost or slow.
func (w *World) StartOn(name, host string) *Process {
	invariant.Check(w.Process(name) == nil, "process %s is started while it runs", name)
	w.lives[name]++
	p := &Process{world: w, name: name, host: host, life: w.lives[name], alive: true}
	p.text = fmt.Sprintf("%s#%d", name, p.life)
	p.system = newSystem(p)
	w.processes = append(w.processes, p)
	delete(w.net.silent, p.system.self)
	w.net.hosts[p.system.self] = host
	w.Note(p.text, "started")
	return p
}

// Name is the process's name, the same in every life.
func (p *Process) Name() string { return p.name }

// Life counts the lives of processes of the name; the first is 1.
func (p *Process) Life() int { return p.life }

// Alive reports whether the process runs.
func (p *Process) Alive() bool { return p.alive }

// FrozenFor is how long the process will do nothing; zero: it is not frozen.
func (p *Process) FrozenFor() time.Duration { return max(0, p.frozen-p.world.now) }

// Awake is how long the world has gone on without the process being frozen.
func (p *Process) Awake() time.Duration { return p.world.now - (p.stands - p.FrozenFor()) }

func (p *Process) String() string { return p.text }

// System is the process's share of the network.
func (p *Process) System() *System { return p.system }

// Loop starts a loop of the process.
func (p *Process) Loop(name string) *Loop {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s#%d/%s#%d", p.name, p.life, name, len(p.loops))
	l := &Loop{proc: p, name: name, rand: rand.New(rand.NewPCG(p.world.seed, h.Sum64())), tie: p.world.rand.Uint64()}
	p.loops = append(p.loops, l)
	return l
}

// Freeze stops the process for d, as a machine does that swaps or is suspended:
// nothing is lost, everything is late.
func (p *Process) Freeze(d time.Duration) {
	until := max(p.frozen, p.world.now+d)
	p.stands += until - max(p.frozen, p.world.now)
	p.frozen = until
	p.world.Note(p.text, "frozen for "+d.String())
}

// Crash ends the life of a process: its loops stop where they are, with all
// timers and letters. A silent crash is that of a machine: nobody closes its
// connections, so that peers wait for answers in vain and see no loss until the
// process is started again or they give up.
func (p *Process) Crash(silent bool) {
	if !p.alive {
		return
	}
	w := p.world
	w.Note(p.text, "crashed")
	p.alive = false
	w.processes = slices.DeleteFunc(w.processes, func(o *Process) bool { return o == p })
	for _, l := range p.loops {
		l.Stop()
	}
	w.net.processEnded(p, silent)
}
