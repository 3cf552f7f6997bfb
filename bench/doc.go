// Package bench measures Weir: what a record costs on its way through a job, as
// Go benchmarks here, and what the processes of a cluster cost, in package
// process. Command run measures everything and writes a table; command compare
// runs the same jobs on a genuine Flink beside Weir.
//
// Throughput is told in records per CPU-second: the time that all threads of all
// processes that take part have spent on processors, garbage collection
// included. On a shared machine it means more than wall time.
//
// It promises nothing about time: no test fails because a machine is slow.
package bench
