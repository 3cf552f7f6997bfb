// Package network is a worker process's share of the data plane: the partitions
// its tasks write, the gates they read, and the connections to the workers of
// other TaskManagers that carry batches between them.
//
// It promises what package shuffle promises, that all channels from one process
// to another share one connection without one slow channel stopping the others,
// that network memory is a fixed number of buffers, and that a broken peer or a
// corrupt frame costs the channels of that connection an error and nothing more.
// It never looks into a batch and never decides what a failure means for a job.
//
// # One connection
//
// The consumer's process dials. Frames go both ways:
//
//	consumer's end (link)                        producer's end (session)
//	  request channel=7 partition, credit 2  ──▶   a view of the queue, or a wait for it
//	  credit  channel=7 n=4                  ──▶   n more data frames may be sent
//	  close   channel=7                      ──▶   consumed, or given up
//	                 ◀──  data    channel=7 seq=0 backlog=5  (part of) a batch
//	                 ◀──  control channel=7 seq=1            a watermark, barrier …
//	                 ◀──  failure channel=7                  why there is no more
//
// Close after the end of the partition is the acknowledgement: only then does
// the producer's process forget the partition and may end.
//
// # Who does the work
//
//	task ─Emit▶ Queue ─Take▶ session's writer ═══▶ link's reader ─▶ channel ─Poll▶ task
//	                         (encodes)                                      (decodes)
//
// The obvious way is to encode in the producing task, into buffers of a pool. We
// encode in the connection's writer: a queue then is the same whether its
// consumer is here or elsewhere, which is not known when the first batch is
// written; nothing is encoded without credit; and a sender needs only the few
// buffers of one write.
//
// A blocking partition is read by the same sessions: its views give batches that
// are encoded already, and the writer copies them.
//
// # Credit and buffers
//
// The consumer's hello says how large its buffers are, and no frame is larger than
// those of either end: a batch, or the options of a barrier, go in several then.
//
// One credit is one buffer set aside at the consumer. A channel has a few of its
// own and borrows more, up to a limit, while the producer reports a backlog and
// the pool is not short. So data frames that arrive always find a buffer, and the
// reader never waits for a task. Control elements cost no credit.
//
// Invariant: for each channel, announced credit + credit to announce + frames
// held = buffers set aside.
package network
