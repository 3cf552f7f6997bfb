package heartbeat

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weirstream/weir/internal/actor"
)

// scriptLoop is a Loop whose clock stands still until a script moves it.
type scriptLoop struct {
	now    time.Time
	timers []*scriptTimer // in the order they were made
}

type scriptTimer struct {
	loop *scriptLoop
	at   time.Time
	f    func()
}

func (l *scriptLoop) Post(f func()) { l.After(0, f) }

func (l *scriptLoop) After(d time.Duration, f func()) actor.Timer {
	t := &scriptTimer{loop: l, at: l.now.Add(d), f: f}
	l.timers = append(l.timers, t)
	return t
}

func (l *scriptLoop) Go(work func(), then func()) { work(); l.Post(then) }
func (l *scriptLoop) Now() time.Time              { return l.now }
func (l *scriptLoop) Rand() *rand.Rand            { panic("no heartbeat is random") }

func (t *scriptTimer) Stop() {
	t.loop.timers = slices.DeleteFunc(t.loop.timers, func(o *scriptTimer) bool { return o == t })
}

// advance lets d pass, running what falls due.
func (l *scriptLoop) advance(d time.Duration) {
	end := l.now.Add(d)
	for {
		due := slices.MinFunc(append(l.timers, &scriptTimer{loop: l, at: end.Add(1)}), func(a, b *scriptTimer) int { return a.at.Compare(b.at) })
		if due.at.After(end) {
			l.now = end
			return
		}
		due.Stop()
		l.now = due.at
		due.f()
	}
}
