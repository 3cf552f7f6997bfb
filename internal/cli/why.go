package cli

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/client"
)

// why tells of each vertex of a job why it is as parallel as it is, and what
// holds its tasks up.
func (p *invocation) why() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "why JOB", Short: "Tell why a job is as parallel as it is, and what its tasks wait for",
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.ofJob(args, "explain", func(c *client.Client, id string) error {
				detail, err := c.Job(cmd.Context(), id)
				if err != nil {
					return unknownJob(action("Could not get job "+id+".", err))
				}
				slots, err := c.Overview(cmd.Context())
				if err != nil {
					return action("Could not get the cluster's slots.", err)
				}
				history, err := c.Exceptions(cmd.Context(), id)
				if err != nil {
					return action("Could not get the failures of job "+id+".", err)
				}
				w := explain(&detail, slots, history)
				if asJSON {
					return p.json(w)
				}
				printWhy(p.out, &w)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	return c
}

// jobWhy is what --json prints.
type jobWhy struct {
	Job   string `json:"job"`
	Name  string `json:"name"`
	State string `json:"state"`
	// Cause is the newest failure of a job that has failed or restarts.
	Cause    string      `json:"cause,omitempty"`
	Slots    int         `json:"slots"`
	Free     int         `json:"freeSlots"`
	Vertices []vertexWhy `json:"vertices"`
	// LastRescale is for how long a job that was rescaled did not run.
	LastRescale *client.Rescale `json:"lastRescale,omitempty"`
}

type vertexWhy struct {
	Name string `json:"name"`
	// Parallelism is -1 while it is not decided.
	Parallelism    int    `json:"parallelism"`
	MaxParallelism int    `json:"maxParallelism"`
	Reason         string `json:"reason"`
	Waiting        int    `json:"waitingForSlots"` // tasks
	Splits         *int   `json:"splits,omitempty"`
	Idle           int    `json:"withoutSplit"` // tasks for which there is none
}

func explain(d *client.Detail, slots client.Overview, history []client.Exception) jobWhy {
	w := jobWhy{Job: d.ID, Name: d.Name, State: d.State, Slots: slots.SlotsTotal, Free: slots.SlotsAvailable, Vertices: []vertexWhy{}, LastRescale: d.LastRescale}
	if (d.State == "FAILED" || d.State == "RESTARTING" || d.State == "FAILING") && len(history) > 0 {
		w.Cause = sentence(&history[0])
	}
	for i := range d.Vertices {
		v := &d.Vertices[i]
		one := vertexWhy{Name: v.Name, Parallelism: v.Parallelism, MaxParallelism: v.MaxParallelism, Reason: v.Reason, Waiting: v.Tasks["SCHEDULED"]}
		if one.Reason == "" {
			one.Reason = "not decided yet: " + undecided(v, i)
		}
		if v.Splits != nil {
			one.Splits = &v.Splits.Count
			one.Idle = max(0, v.Parallelism-v.Splits.Count)
		}
		w.Vertices = append(w.Vertices, one)
	}
	return w
}

// undecided says what a vertex waits for before it is laid out.
func undecided(v *client.Vertex, index int) string {
	switch {
	case v.Parallelism > 0:
		return "what it reads is not laid out"
	case index == 0:
		return "its source has not said how much there is to read"
	}
	return "what it reads is not complete"
}

func printWhy(w io.Writer, j *jobWhy) {
	fmt.Fprintf(w, "Job %s (%s) is %s.\n", j.Job, j.Name, j.State)
	if j.Cause != "" {
		fmt.Fprintf(w, "%s\n", j.Cause)
	}
	if r := j.LastRescale; r != nil {
		fmt.Fprintf(w, "It last began anew at %s (%s), and did not run for %d ms: %d until its tasks had ended and the pause before a restart was over, %d until new ones were placed, %d until those ran.\n",
			time.UnixMilli(r.Stopped).UTC().Format(time.RFC3339), cmp.Or(r.Changes, "as parallel as before"), r.Outage, r.Ending, r.Placing, r.Deploying)
	}
	for i := range j.Vertices {
		v := &j.Vertices[i]
		fmt.Fprintln(w, v.Name)
		number := fmt.Sprint(v.Parallelism)
		if v.Parallelism < 1 {
			number = "?"
		}
		fmt.Fprintf(w, "  parallelism  %s: %s\n", number, v.Reason)
		if v.Idle > 0 {
			fmt.Fprintf(w, "  splits       %d, fewer than tasks: the others have nothing to read\n", *v.Splits)
		}
		if v.Waiting > 0 {
			fmt.Fprintf(w, "  waiting      %d of its tasks wait for a slot: the cluster has %d slots, %d free\n", v.Waiting, j.Slots, j.Free)
		}
	}
}
