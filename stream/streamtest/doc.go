// Package streamtest drives functions and whole pipelines of the DataStream API by
// hand, in `go test`: records, watermarks and processing time go in one by one, and
// what has come out by then is looked at. State is snapshotted and restored, at
// another parallelism too.
//
//	h := streamtest.Keyed(t, newFunction, keyOf)
//	h.Process(order{ID: 7}, at)
//	h.Watermark(at.Add(time.Minute))
//	got := h.Output()
//
// Keyed, Process, Through and the like drive one operation or a part of a pipeline
// with one input or two. New drives any pipeline, with Inputs and Outputs as its ends.
//
// It promises that what runs are the tasks and operators that a job has, in all their
// subtasks; that when a method has returned, all that follows from it has been
// processed and can be seen, except for asynchronous calls, which Finish waits for; and
// that processing time stands still but for AdvanceTime. A failure of the pipeline
// fails the test, unless Failure expects it. Key functions are called twice, and must
// give the same key both times.
//
// It never starts a cluster, and so never runs a source that has a coordinator, such as
// ReadText: give the part behind it an Input.
package streamtest
