package cli

import (
	"cmp"
	"encoding/json/v2"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/client"
)

// list is Flink's `list`: running and scheduled jobs, with -a the ended ones too.
func (p *invocation) list() *cobra.Command {
	var running, scheduled, all, asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List running, scheduled and ended jobs", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := p.client()
			if err != nil {
				return err
			}
			defer c.Close()
			if !asJSON {
				fmt.Fprintln(p.out, "Waiting for response...")
			}
			jobs, err := c.Jobs(cmd.Context())
			if err != nil {
				return action("Failed to retrieve job list.", err)
			}
			if asJSON {
				return p.json(jobs)
			}
			if !running && !scheduled {
				running, scheduled = true, true
			}
			p.printJobs(jobs, running, scheduled, all)
			return nil
		},
	}
	f := c.Flags()
	f.BoolVarP(&running, "running", "r", false, "show only running jobs")
	f.BoolVarP(&scheduled, "scheduled", "s", false, "show only scheduled jobs")
	f.BoolVarP(&all, "all", "a", false, "show ended jobs too")
	f.BoolVar(&asJSON, "json", false, "print the jobs as JSON")
	return c
}

func (p *invocation) json(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%s\n", text)
	return nil
}

// printJobs prints the groups asked for, each by start time.
func (p *invocation) printJobs(jobs []client.Job, running, scheduled, all bool) {
	slices.SortStableFunc(jobs, func(a, b client.Job) int { return cmp.Compare(a.StartTime, b.StartTime) })
	var groups [3][]client.Job
	for _, j := range jobs {
		switch {
		case j.State == "CREATED" || j.State == "INITIALIZING":
			groups[1] = append(groups[1], j)
		case client.Ended(j.State):
			groups[2] = append(groups[2], j)
		default:
			groups[0] = append(groups[0], j)
		}
	}
	if running || all {
		printGroup(p.out, groups[0], "------------------ Running/Restarting Jobs -------------------", "No running jobs.")
	}
	if scheduled || all {
		printGroup(p.out, groups[1], "----------------------- Scheduled Jobs -----------------------", "No scheduled jobs.")
	}
	if all {
		printGroup(p.out, groups[2], "---------------------- Terminated Jobs -----------------------", "No terminated jobs.")
	}
}

func printGroup(w io.Writer, jobs []client.Job, title, none string) {
	if len(jobs) == 0 {
		fmt.Fprintln(w, none)
		return
	}
	fmt.Fprintln(w, title)
	for _, j := range jobs {
		name := strings.ReplaceAll(j.Name, "\n", " ") // that of a query's job is the query
		fmt.Fprintf(w, "%s : %s : %s (%s)\n", time.UnixMilli(j.StartTime).Format("02.01.2006 15:04:05"), j.ID, name, j.State)
	}
	fmt.Fprintln(w, "--------------------------------------------------------------")
}
