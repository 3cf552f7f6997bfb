// Package machine describes the machine that figures were measured on, and how
// busy others kept it meanwhile. It reads /proc, so it works on Linux only; what
// cannot be read is said to be unknown.
package machine

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Description is the machine and its programs, as a Markdown list.
func Description() string {
	var b strings.Builder
	for _, line := range [][2]string{
		{"processor", fmt.Sprintf("%s, %d cores", field("/proc/cpuinfo", "model name"), runtime.NumCPU())},
		{"memory", field("/proc/meminfo", "MemTotal")},
		{"kernel", read("/proc/sys/kernel/osrelease")},
		{"Go", runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH},
	} {
		fmt.Fprintf(&b, "* %s: %s\n", line[0], line[1])
	}
	return b.String()
}

// Load is the load average of the last 1, 5 and 15 minutes.
func Load() string {
	fields := strings.Fields(read("/proc/loadavg"))
	if len(fields) < 3 {
		return "unknown"
	}
	return strings.Join(fields[:3], " ")
}

func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// field gives the first "name: value" of a file.
func field(path, name string) string {
	for line := range strings.Lines(read(path)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// A Meter tells how many cores other programs used since it was made.
type Meter struct {
	began      time.Time
	busy, ours float64 // seconds
}

// NewMeter starts to measure.
func NewMeter() *Meter { return &Meter{began: time.Now(), busy: busySeconds(), ours: ownSeconds()} }

// Others is how many cores were used by programs that are neither this one nor
// children of it that have ended; below 0 if that is unknown.
func (m *Meter) Others() float64 {
	busy := busySeconds()
	if busy < 0 || m.busy < 0 {
		return -1
	}
	return max(0, busy-m.busy-(ownSeconds()-m.ours)) / time.Since(m.began).Seconds()
}

// busySeconds is the processor time of the whole machine since it started,
// neither idle, nor waiting for disks, nor taken by the hypervisor.
func busySeconds() float64 {
	first, _, _ := strings.Cut(read("/proc/stat"), "\n")
	fields := strings.Fields(first)
	if len(fields) < 8 || fields[0] != "cpu" {
		return -1
	}
	var sum float64
	for _, i := range []int{1, 2, 3, 6, 7} { // user, nice, system, irq, softirq
		n, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return -1
		}
		sum += n / 100
	}
	return sum
}

// ownSeconds is the processor time of this program and its ended children.
func ownSeconds() float64 {
	var sum int64
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return 0
		}
		sum += u.Utime.Nano() + u.Stime.Nano()
	}
	return float64(sum) / 1e9
}
