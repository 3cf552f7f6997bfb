package bench

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// recordsPerOp is how many records stand behind one b.N, so that starting a job
// vanishes among its records.
const recordsPerOp = 1000

// cpuTime is the processor time of all threads of this process so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// mallocs is the number of heap objects allocated so far.
func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// measure runs a job of b.N × recordsPerOp records and reports what a record
// costs.
func measure(b *testing.B, job func(records int64)) {
	b.Helper()
	n := int64(b.N) * recordsPerOp
	runtime.GC()
	objects, cpu := mallocs(), cpuTime()
	b.ResetTimer()
	job(n)
	b.StopTimer()
	report(b, n, cpuTime()-cpu)
	b.ReportMetric(float64(mallocs()-objects)/float64(n), "allocs/record")
}

// report tells the cost of n records. "ns/op" would be of recordsPerOp records
// and is left out.
func report(b *testing.B, n int64, cpu time.Duration) {
	b.ReportMetric(float64(n)/cpu.Seconds()/1e6, "Mrec/cpu-s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/record")
	b.ReportMetric(0, "ns/op")
}
