package cli

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/program"
	"github.com/weirstream/weir/internal/snapshot"
)

// info is Flink's `info`: it prints a program's plan without running its job.
func (p *invocation) info() *cobra.Command {
	var parallelism string
	c := &cobra.Command{
		Use: "info [OPTIONS] PROGRAM [ARGUMENTS]", Short: "Print a program's plan",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := p.request(runOptions{parallelism: parallelism}, nil)
			if err != nil {
				return err
			}
			if r.Parallelism > 0 {
				r.Configuration[config.ParallelismDefault.Key] = fmt.Sprint(r.Parallelism)
			}
			graph, _, err := planLocally(cmd.Context(), args, r.Configuration, false)
			if err != nil {
				return err
			}
			return p.printPlan(graph)
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().StringVarP(&parallelism, "parallelism", "p", "", "default `parallelism` of the program")
	return c
}

// planLocally runs the program on this machine until it has described its job, and
// if states is set what its operators keep.
func planLocally(ctx context.Context, args []string, settings map[string]string, states bool) (*jobgraph.Graph, []snapshot.Declaration, error) {
	binary, arguments, cleanUp, err := programArgument(ctx, args)
	if err != nil {
		return nil, nil, err
	}
	defer cleanUp()
	dir, err := os.MkdirTemp("", "weir-info-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	store, err := program.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(binary)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	uploaded, err := store.Upload(buildName(binary), f)
	if err != nil {
		return nil, nil, err
	}
	planner := program.Planner{Store: store, Preview: true}
	if states {
		return planner.PlanStates(ctx, uploaded, arguments, settings)
	}
	graph, err := planner.Plan(ctx, uploaded, arguments, settings)
	return graph, nil, err
}

// printPlan prints the plan as Flink does.
func (p *invocation) printPlan(g *jobgraph.Graph) error {
	text, err := json.Marshal(struct {
		Nodes []jobgraph.PlanNode `json:"nodes"`
	}{g.Pipeline}, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "----------------------- Execution Plan -----------------------\n%s\n"+
		"--------------------------------------------------------------\n\nNo description provided.\n", text)
	return nil
}
