package dispatcher

import (
	"context"

	"github.com/weirstream/weir/internal/actor"
)

// leaving is an artifact that is being released.
type leaving struct {
	times   int      // it was asked for and is not done
	waiting []func() // retain it afterwards
}

// Retain keeps an artifact from being released until it is given back, however
// many jobs that need it end meanwhile: it is called before the artifact is put
// where TaskManagers find it, and giveBack after the job is submitted. It waits
// until a release that has begun is done, which would take away what is put there.
func (d *Dispatcher) Retain(ctx context.Context, sha256 string) (giveBack func(), err error) {
	_, err = actor.Ask(ctx, d.loop, func(reply func(bool)) { d.retain(ctx, sha256, func() { reply(true) }) })
	if err != nil {
		return nil, err
	}
	return func() { d.loop.Post(func() { d.release(sha256) }) }, nil
}

func (d *Dispatcher) retain(ctx context.Context, sha string, then func()) {
	l := d.leaving[sha]
	switch {
	case ctx.Err() != nil: // nobody would give it back
	case l != nil:
		l.waiting = append(l.waiting, func() { d.retain(ctx, sha, then) })
	default:
		d.artifacts[sha]++
		then()
	}
}

// release notes that one job, or one Retain, needs an artifact no more.
func (d *Dispatcher) release(sha string) {
	if sha == "" {
		return
	}
	d.artifacts[sha]--
	if d.artifacts[sha] > 0 {
		return
	}
	delete(d.artifacts, sha)
	if d.options.ReleaseArtifact == nil {
		return
	}
	l := d.leaving[sha]
	if l == nil {
		l = &leaving{}
		d.leaving[sha] = l
	}
	l.times++
	d.options.ReleaseArtifact(sha, func() { d.left(sha, l) })
}

// left goes on when an artifact is gone.
func (d *Dispatcher) left(sha string, l *leaving) {
	if l.times--; l.times > 0 {
		return
	}
	delete(d.leaving, sha)
	for _, retain := range l.waiting {
		retain()
	}
}
