package metrics

import "github.com/weirstream/weir/internal/status"

// OfProcess names the figures of a JobManager or TaskManager, under the names
// that Flink takes from its JVM and under ours.
func OfProcess(f *status.ProcessFigures) []Metric {
	all := []Metric{
		{"Status.JVM.CPU.Load", Number(f.CPULoad)},
		{"Status.JVM.CPU.Time", Whole(int64(f.CPU))},
		{"Status.JVM.Memory.Heap.Used", Whole(f.HeapUsed)},
		{"Status.JVM.Memory.Heap.Committed", Whole(f.HeapCommitted)},
		{"Status.JVM.Memory.NonHeap.Used", Whole(f.NonHeapUsed)},
		{"Status.JVM.Memory.NonHeap.Committed", Whole(f.NonHeapCommitted)},
		{"Status.JVM.Threads.Count", Whole(f.Goroutines)},
		{"Status.Go.Goroutines", Whole(f.Goroutines)},
		{"Status.Go.Threads", Whole(f.Threads)},
	}
	// Dashboards that were made for Flink look at a collector of the JVM.
	for _, collector := range []string{"All", "G1_Young_Generation"} {
		prefix := "Status.JVM.GarbageCollector." + collector + "."
		all = append(all, Metric{prefix + "Count", Whole(f.Collections)}, Metric{prefix + "Time", millis(f.CollectionTime)},
			Metric{prefix + "TimeMsPerSecond", Number(f.CollectionMillisPerSecond)})
	}
	known := func(name string, value int64) {
		if value > 0 {
			all = append(all, Metric{name, Whole(value)})
		}
	}
	known("Status.JVM.Memory.Heap.Max", f.HeapMax)
	known("Status.JVM.Memory.NonHeap.Max", f.NonHeapMax)
	known("Status.JVM.Memory.Metaspace.Used", f.Program)
	known("Status.JVM.Memory.Metaspace.Committed", f.Program)
	known("Status.JVM.Memory.Metaspace.Max", f.ProgramMax)
	known("Status.JVM.FileDescriptor.Open", f.DescriptorsOpen)
	known("Status.JVM.FileDescriptor.Max", f.DescriptorsMax)
	if f.BuffersTotal > 0 {
		all = append(all, ofNetwork(f)...)
	}
	if f.ManagedTotal > 0 {
		all = append(all, Metric{"Status.Flink.Memory.Managed.Used", Whole(f.ManagedUsed)},
			Metric{"Status.Flink.Memory.Managed.Total", Whole(f.ManagedTotal)})
	}
	return all
}

// ofNetwork names the figures of the network buffers, which only a TaskManager
// has.
func ofNetwork(f *status.ProcessFigures) []Metric {
	free := max(0, f.BuffersTotal-f.BuffersTaken)
	return []Metric{
		{"Status.JVM.Memory.Direct.Count", Whole(f.BuffersTaken)},
		{"Status.JVM.Memory.Direct.MemoryUsed", Whole(f.BuffersTaken * f.BufferSize)},
		{"Status.JVM.Memory.Direct.TotalCapacity", Whole(f.BuffersTotal * f.BufferSize)},
		{"Status.Network.AvailableMemorySegments", Whole(free)},
		{"Status.Network.TotalMemorySegments", Whole(f.BuffersTotal)},
		{"Status.Shuffle.Netty.AvailableMemorySegments", Whole(free)},
		{"Status.Shuffle.Netty.UsedMemorySegments", Whole(f.BuffersTaken)},
		{"Status.Shuffle.Netty.TotalMemorySegments", Whole(f.BuffersTotal)},
		{"Status.Shuffle.Netty.AvailableMemory", Whole(free * f.BufferSize)},
		{"Status.Shuffle.Netty.UsedMemory", Whole(f.BuffersTaken * f.BufferSize)},
		{"Status.Shuffle.Netty.TotalMemory", Whole(f.BuffersTotal * f.BufferSize)},
		{"Status.Shuffle.Netty.RequestedMemoryUsage", Whole(100 * f.BuffersReserved / f.BuffersTotal)},
	}
}
