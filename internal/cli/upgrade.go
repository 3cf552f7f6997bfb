package cli

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/snapshot"
)

// exitLost says that an upgrade would lose state.
const exitLost = 4

// upgrade says what a program would keep of a savepoint, before anything stops.
func (p *invocation) upgrade() *cobra.Command {
	var savepoint, parallelism string
	var dryRun, asJSON bool
	c := &cobra.Command{
		Use: "upgrade --dry-run PROGRAM -s PATH [-- ARGUMENTS]", Short: "Say what a program would keep of a savepoint, and what it would lose",
		Long: "PROGRAM is a Go job binary, or a directory with its package main. It is run until it has described\n" +
			"its job; its functions are opened and closed once, to see what state they keep. Nothing else happens.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !dryRun:
				return usage("upgrade: only --dry-run is possible: stop the job with `weir stop`, and run the new program with `weir run -s PATH`")
			case savepoint == "":
				return usage("upgrade: no savepoint given: name one with -s PATH" + helpHint)
			}
			m, dir, err := readSavepoint(cmd.Context(), savepoint)
			if err != nil {
				return err
			}
			r, err := p.request(runOptions{parallelism: parallelism}, nil)
			if err != nil {
				return err
			}
			if r.Parallelism > 0 {
				r.Configuration[config.ParallelismDefault.Key] = fmt.Sprint(r.Parallelism)
			}
			graph, declared, err := planLocally(cmd.Context(), args, r.Configuration, true)
			if err != nil {
				return err
			}
			if graph.Batch {
				return ends(exitFailure, "The program is a batch job, which has no state to begin with.\nRun it in STREAMING mode (-D %s=STREAMING).", config.ExecutionRuntimeMode.Key)
			}
			verdicts := compareUpgrade(m, dir.String(), graph, declared)
			if asJSON {
				err = p.json(verdicts)
			} else {
				p.printVerdicts(verdicts, m, dir.String())
			}
			if err == nil && loses(verdicts) {
				err = &exit{code: exitLost}
			}
			return err
		},
	}
	f := c.Flags()
	f.BoolVar(&dryRun, "dry-run", false, "only say what would become of the state")
	f.StringVarP(&savepoint, "fromSavepoint", "s", "", "`path` of the savepoint or retained checkpoint")
	f.StringVarP(&parallelism, "parallelism", "p", "", "default `parallelism` of the program")
	f.BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

func (p *invocation) printVerdicts(all []verdict, m *snapshot.Metadata, from string) {
	fmt.Fprintf(p.out, "What would become of %s, of job %s (%s):\n\n", from, m.Job, m.JobName)
	table := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "OPERATOR\tSTATE IS\tWHY")
	for _, v := range all {
		name := v.Name
		if v.UID != "" {
			name += " (uid " + v.UID + ")"
		}
		outcome := string(v.Outcome)
		if len(v.Reasons) == 0 {
			fmt.Fprintf(table, "%s\t%s\t\n", name, outcome)
		}
		for _, why := range v.Reasons {
			fmt.Fprintf(table, "%s\t%s\t%s\n", name, outcome, why)
			name, outcome = "", ""
		}
	}
	table.Flush()
	fmt.Fprintf(p.out, "\n%s\n", conclusion(all))
}

// reasonsOf gives what keeps operators from taking their state, by operator.
func reasonsOf(err error) map[string][]string {
	all := map[string][]string{} // looked up, never ranged
	if e, ok := errors.AsType[*snapshot.IncompatibleError](err); ok {
		for _, r := range e.Reasons {
			all[r.Operator.String()] = append(all[r.Operator.String()], r.Text)
		}
	}
	return all
}
