package sim

import "time"

// A disk is what the work beside a process's loops waits for.
type disk struct {
	slow, fails time.Duration // until when it is
	least, most time.Duration // how much longer work takes while it is slow
	busy        time.Duration // until when work that has begun takes
}

// delay is how much longer work takes that begins now.
func (d *disk) delay(w *World) time.Duration {
	if w.now >= d.slow {
		return 0
	}
	return w.between(d.least, d.most)
}

func (d *disk) busyUntil(at time.Duration) { d.busy = max(d.busy, at) }

// SlowDisk makes work beside the process's loops take longer for a while.
func (p *Process) SlowDisk(least, most, length time.Duration) {
	p.disk.slow, p.disk.least, p.disk.most = p.world.now+length, least, most
	p.world.Note(p.text, "slow disk for "+length.String())
}

// FailDisk lets the process's disk fail for a while. It is up to whoever plays
// its work to ask DiskFails.
func (p *Process) FailDisk(length time.Duration) {
	p.disk.fails = p.world.now + length
	p.world.Note(p.text, "failing disk for "+length.String())
}

// DiskFails reports whether the process's disk fails now.
func (p *Process) DiskFails() bool { return p.world.now < p.disk.fails }

// DiskDelay is how much longer than usual it takes now to write or read a file.
func (p *Process) DiskDelay() time.Duration { return p.disk.delay(p.world) }

// HealDisk ends both; what has begun is not made faster. It gives the time that
// takes.
func (p *Process) HealDisk() time.Duration {
	p.disk.slow, p.disk.fails = 0, 0
	return max(0, p.disk.busy-p.world.now)
}
