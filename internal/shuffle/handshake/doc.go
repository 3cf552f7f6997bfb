// Package handshake opens the connections of the data plane: the Hello a
// connection begins with, the answer to it, and the passing of an accepted
// connection from a TaskManager to the worker process of its job.
//
// It promises that a peer that does not speak the protocol, is slow or silent
// costs its own connection and nothing else, that nothing is read beyond the
// Hello, so that whoever gets the connection next finds all the rest, and that
// no file descriptor is left behind by a passing that failed. It never moves
// data and knows no job but by its identifier.
//
//	consumer's worker            TaskManager            producer's worker
//	     │── dial, Hello ───────────▶│ ReadHello                │
//	     │                           │── SendConn ─────────────▶│ ReceiveConn
//	     │◀─────────────────────────────────── Accept or Refuse ─│
//
// A TaskManager that cannot pass the connection on answers with Refuse itself.
package handshake
