package network

import (
	"sync/atomic"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/shuffle"
	"github.com/weirstream/weir/internal/shuffle/local"
)

// A Channel says where one channel of a gate comes from.
type Channel struct {
	Partition    ident.PartitionID
	Subpartition int
	// Subpartitions is how many are read as one, from Subpartition on; 0: 1.
	// Only a blocking partition gives more.
	Subpartitions int
	// Whole says that the producer has finished: a partition that is not there,
	// or a worker that holds none, is not waited for.
	Whole bool
	// Resource is the producer's TaskManager.
	Resource ident.ResourceID
	// Addresses are where it listens, as "unix:/path/of/socket" or "host:port".
	Addresses []string
}

// subs is the range of the subpartitions.
func (c Channel) subs() shuffle.Range {
	return shuffle.Range{First: c.Subpartition, Last: c.Subpartition + max(1, c.Subpartitions) - 1}
}

// A Gate is what a task reads one input edge from. Its methods belong to the
// task's goroutine, Metrics excepted. The task closes it when it ends, however
// it ends.
type Gate struct {
	*local.Gate
	env        *Environment
	serializer shuffle.Serializer // decodes, in Poll only

	batches, records, bytes atomic.Int64
}

var _ shuffle.AligningGate = (*Gate)(nil)

// GateMetrics are counts since the gate was made, of what came from other
// processes: what comes from the same one is counted by its partition.
type GateMetrics struct {
	Batches, Records, Bytes int64
}

// Metrics gives the counts.
func (g *Gate) Metrics() GateMetrics {
	return GateMetrics{g.batches.Load(), g.records.Load(), g.bytes.Load()}
}

func (g *Gate) count(records, bytes int) {
	g.batches.Add(1)
	g.records.Add(int64(records))
	g.bytes.Add(int64(bytes))
}

// Close gives up all channels. Batches taken stay the caller's.
func (g *Gate) Close() {
	g.Gate.Close()
	g.env.forgetGate(g)
}
