package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/internal/cluster/local"
)

// cluster starts and stops the processes of a cluster on this machine.
func (p *invocation) cluster() *cobra.Command {
	c := &cobra.Command{Use: "cluster", Short: "Start, stop and show a cluster on this machine",
		Args: noArguments, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(p.clusterStart(), p.clusterStop(), p.clusterStatus())
	return c
}

// localOptions say which cluster is meant, and give its processes the same
// options as this one.
func (p *invocation) localOptions() (local.Options, error) {
	cfg, err := p.config()
	if err != nil {
		return local.Options{}, err
	}
	o := local.Options{Config: cfg}
	if p.dir != "" {
		o.Arguments = append(o.Arguments, "--config-dir", p.dir)
	}
	for _, d := range p.dynamic {
		o.Arguments = append(o.Arguments, "-D", d)
	}
	return o, nil
}

func (p *invocation) clusterStart() *cobra.Command {
	var taskManagers int
	c := &cobra.Command{
		Use: "start", Short: "Start a master and TaskManagers in the background", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if taskManagers < 0 {
				return usage("--taskmanagers: got %d, want at least 0", taskManagers)
			}
			o, err := p.localOptions()
			if err != nil {
				return err
			}
			o.TaskManagers = taskManagers
			started, err := local.Start(cmd.Context(), o)
			if err != nil {
				return err
			}
			fmt.Fprintf(p.out, "The cluster runs. REST: http://%s\n", started.REST)
			for _, process := range started.Processes {
				fmt.Fprintf(p.out, "  %s\n", process)
			}
			return nil
		},
	}
	c.Flags().IntVar(&taskManagers, "taskmanagers", 1, "`number` of TaskManagers")
	return c
}

func (p *invocation) clusterStop() *cobra.Command {
	return &cobra.Command{
		Use: "stop", Short: "Stop the processes that start has started", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			o, err := p.localOptions()
			if err != nil {
				return err
			}
			stopped, err := local.Stop(o)
			for _, process := range stopped {
				fmt.Fprintf(p.out, "Stopped %s\n", process)
			}
			if err == nil && len(stopped) == 0 {
				fmt.Fprintln(p.out, "No cluster runs.")
			}
			return err
		},
	}
}

func (p *invocation) clusterStatus() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "Show the processes, slots and jobs", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := p.localOptions()
			if err != nil {
				return err
			}
			status, err := local.Inspect(cmd.Context(), o)
			if err != nil {
				return err
			}
			if asJSON {
				return p.json(status)
			}
			p.printStatus(status)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

// printStatus prints a table of processes, then slots and jobs.
func (p *invocation) printStatus(s local.Status) {
	if len(s.Processes) == 0 {
		fmt.Fprintln(p.out, "No cluster runs. `weir cluster start` starts one.")
		return
	}
	table := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "PROCESS\tPID\tSTATE")
	for _, process := range s.Processes {
		state := "running"
		if !process.Running {
			state = "ended"
		}
		fmt.Fprintf(table, "%s %d\t%d\t%s\n", process.Role, process.Number, process.PID, state)
	}
	table.Flush()
	switch {
	case s.REST == "":
		fmt.Fprintln(p.out, "The JobManager does not run.")
	case s.Overview == nil:
		fmt.Fprintf(p.out, "REST: http://%s does not answer: %v\n", s.REST, s.Unanswered)
	default:
		o := s.Overview
		fmt.Fprintf(p.out, "REST: http://%s\nSlots: %d of %d free on %d TaskManagers\nJobs: %d running, %d finished, %d cancelled, %d failed\n",
			s.REST, o.SlotsFree, o.Slots, o.TaskManagers, o.JobsRunning, o.JobsFinished, o.JobsCancelled, o.JobsFailed)
	}
}
