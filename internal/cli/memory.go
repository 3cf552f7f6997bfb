package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/memory"
)

// memory tells how a process would divide its memory, before it is started.
func (p *invocation) memory() *cobra.Command {
	c := &cobra.Command{Use: "memory", Short: "Show how a process would divide its memory",
		Args: noArguments, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(p.memoryExplain())
	return c
}

func (p *invocation) memoryExplain() *cobra.Command {
	var asJSON, jobManager bool
	c := &cobra.Command{
		Use: "explain", Short: "Compute the memory of a TaskManager or JobManager, in bytes", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := p.config()
			if err != nil {
				return err
			}
			if jobManager {
				return p.explainJobManager(cfg, asJSON)
			}
			return p.explainTaskManager(cfg, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	c.Flags().BoolVar(&jobManager, "jobmanager", false, "compute the memory of the JobManager")
	return c
}

func (p *invocation) explainTaskManager(cfg *config.Config, asJSON bool) error {
	m, err := memory.TaskManager(cfg)
	if err != nil {
		return &exit{code: exitConfig, err: err}
	}
	withoutEffect(cfg, m.Ignored, "taskmanager.memory.")
	if _, set := config.TaskManagerSegmentSize.Lookup(cfg); set {
		m.Keys = append(m.Keys, config.TaskManagerSegmentSize.Key)
		slices.Sort(m.Keys)
	}
	if asJSON {
		return p.json(m)
	}
	slots := config.TaskManagerNumberOfTaskSlots.In(cfg)
	share, segment := m.Share(1, slots), config.TaskManagerSegmentSize.In(cfg)
	fmt.Fprintf(p.out, "The memory of a TaskManager with %s and its workers, in bytes:\n", counted(slots, "slot"))
	p.printParts([]memoryPart{
		{"process", m.Process, m.From["process"]},
		{"  flink", m.Flink, m.From["flink"]},
		{"    frameworkHeap", m.FrameworkHeap, m.From["frameworkHeap"]},
		{"    taskHeap", m.TaskHeap, m.From["taskHeap"]},
		{"    frameworkOffHeap", m.FrameworkOffHeap, m.From["frameworkOffHeap"]},
		{"    taskOffHeap", m.TaskOffHeap, m.From["taskOffHeap"]},
		{"    network", m.Network, m.From["network"]},
		{"    managed", m.Managed, m.From["managed"]},
		{"  metaspace", m.Metaspace, m.From["metaspace"]},
		{"  overhead", m.Overhead, m.From["overhead"]},
	})
	p.printMeanings([][2]string{
		{"frameworkHeap + frameworkOffHeap", fmt.Sprintf("GOMEMLIMIT of the TaskManager's own process: %d", m.Agent())},
		{"all the rest", fmt.Sprintf("what the worker processes of all jobs may use: %d, and a job for each slot it holds %d, in a control group where one can be made; the GOMEMLIMIT of a worker is nine tenths of its part: %d for each slot",
			m.Workers(), share.Hard, share.Soft)},
		{"network", fmt.Sprintf("the buffers for what comes from other processes: %d of %d bytes, %d for each slot; a job that needs more fails and names the consumer",
			m.Network/segment, segment, share.Network/segment)},
		{"managed", fmt.Sprintf("the room of operators for sorting and for state on a disk (rocksdb), %d for each slot; state in memory (hashmap) may take three quarters of a worker's GOMEMLIMIT", share.Managed)},
		{"taskHeap, taskOffHeap", "shown in the profile of the slots; Go has one heap, so within a worker nothing keeps them apart"},
		{"metaspace", "Go has none: the worker may use it"},
		{"overhead", "stacks, code and what the runtime and the kernel take: the worker may use it"},
	})
	p.printEffects(m.Keys, m.Ignored, m.Notes)
	return nil
}

func (p *invocation) explainJobManager(cfg *config.Config, asJSON bool) error {
	m, err := memory.JobManager(cfg)
	if err != nil {
		return &exit{code: exitConfig, err: err}
	}
	withoutEffect(cfg, m.Ignored, "jobmanager.memory.")
	if asJSON {
		return p.json(m)
	}
	fmt.Fprintln(p.out, "The memory of a JobManager, in bytes:")
	p.printParts([]memoryPart{
		{"process", m.Process, m.From["process"]},
		{"  flink", m.Flink, m.From["flink"]},
		{"    heap", m.Heap, m.From["heap"]},
		{"    offHeap", m.OffHeap, m.From["offHeap"]},
		{"  metaspace", m.Metaspace, m.From["metaspace"]},
		{"  overhead", m.Overhead, m.From["overhead"]},
	})
	p.printMeanings([][2]string{
		{"heap + metaspace", fmt.Sprintf("GOMEMLIMIT of the process: %d", m.HeapLimit())},
		{"offHeap, overhead", "stacks, code and what the runtime and the kernel take; nothing limits them"},
	})
	p.printEffects(m.Keys, m.Ignored, m.Notes)
	return nil
}

// withoutEffect adds the settings beside the model that do nothing.
func withoutEffect(cfg *config.Config, ignored map[string]string, prefix string) {
	for _, i := range cfg.Ignored() {
		if strings.HasPrefix(i.Key, prefix) {
			ignored[i.Key] = i.Why
		}
	}
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// memoryPart is one row of a budget.
type memoryPart struct {
	name string
	size memory.Size
	from string
}

func (p *invocation) printParts(parts []memoryPart) {
	width := len(strconv.FormatInt(int64(parts[0].size), 10)) // the whole is the longest
	table := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	for _, part := range parts {
		fmt.Fprintf(table, "  %s\t%*d\t%s\t%s\n", part.name, width, part.size, mebibytes(part.size), part.from)
	}
	table.Flush()
}

func mebibytes(s memory.Size) string {
	return fmt.Sprintf("%9.1f mb", float64(s)/float64(memory.MB))
}

func (p *invocation) printMeanings(rows [][2]string) {
	fmt.Fprintln(p.out, "\nWhat Flink's names mean here:")
	for _, row := range rows {
		fmt.Fprintf(p.out, "  %s: %s.\n", row[0], row[1])
	}
}

// printEffects tells which settings took part, and which did not and why.
func (p *invocation) printEffects(keys []string, ignored map[string]string, notes []string) {
	fmt.Fprintln(p.out, "\nKeys that took effect:")
	for _, key := range keys {
		fmt.Fprintf(p.out, "  %s\n", key)
	}
	if len(ignored) > 0 {
		fmt.Fprintln(p.out, "\nKeys without effect:")
		for _, key := range slices.Sorted(maps.Keys(ignored)) {
			fmt.Fprintf(p.out, "  %s: %s\n", key, ignored[key])
		}
	}
	if len(notes) > 0 {
		fmt.Fprintln(p.out, "\nBounds that replaced a fraction:")
		for _, note := range notes {
			fmt.Fprintf(p.out, "  %s.\n", note)
		}
	}
}
