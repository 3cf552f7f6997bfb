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
			graph, err := planLocally(cmd.Context(), args, r.Configuration)
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

// planLocally runs the program on this machine until it has described its job.
func planLocally(ctx context.Context, args []string, settings map[string]string) (*jobgraph.Graph, error) {
	binary, arguments, cleanUp, err := programArgument(ctx, args)
	if err != nil {
		return nil, err
	}
	defer cleanUp()
	dir, err := os.MkdirTemp("", "weir-info-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	store, err := program.Open(dir)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(binary)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	uploaded, err := store.Upload(buildName(binary), f)
	if err != nil {
		return nil, err
	}
	planner := program.Planner{Store: store, Preview: true}
	return planner.Plan(ctx, uploaded, arguments, settings)
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
