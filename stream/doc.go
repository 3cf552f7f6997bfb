// Package stream is the DataStream API: a Go program builds a graph of typed
// streams and executes it, embedded in its own process or on a cluster.
//
//	env := stream.NewEnv()
//	stream.ReadText(env, "books/*.txt").
//		FlatMap(strings.FieldsSeq).
//		KeyBy(stream.Self[string]).
//		Count().
//		Print()
//	if err := env.Execute(ctx, "word count"); err != nil { … }
//
// Started by itself, the program runs on a cluster inside its own process.
// Started by `weir run`, the same program first describes its graph to the
// cluster, and is then started again as the job's worker, where Execute serves
// tasks and does not return until the job has ended. A program must therefore
// build the same graph each time it is started with the same arguments.
//
// A streaming program with CheckpointInterval goes on after a failure with what its
// sources, keyed state, timers and windows had at the last checkpoint.
//
// Functions with a life of their own (ProcessFunction and its kin) declare their states
// in Open. Streams are put together by Union, Connect, ConnectBroadcast, IntervalJoin
// and windows over two; AsyncOrdered and AsyncUnordered wait for other services. Package
// streamtest drives all of it by hand.
//
// There are no iterations: in a loop no watermark and no barrier could say that
// everything before it has been seen, so neither event time nor checkpoints would mean
// anything. Flink has deprecated its own for this reason. What goes round belongs into
// keyed state with a timer, or out through a sink and in through a source.
//
// It promises that types are checked by the compiler where Go can, and
// otherwise by Execute, whose error names the line of the program that made the
// stream. It never serialises a function and never boxes a record.
package stream
