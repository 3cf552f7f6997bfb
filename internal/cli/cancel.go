package cli

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/internal/ident"
)

const helpHint = "\n\nUse the help option (-h or --help) to get help on the command."

// jobArgument reads the one argument that names a job.
func jobArgument(args []string, verb string) (string, error) {
	if len(args) == 0 {
		return "", usage("Missing JobID. Specify a JobID to %s a job."+helpHint, verb)
	}
	id, err := ident.Parse(args[0])
	if err != nil {
		return "", usage("Cannot parse JobID from %q. The expected format is [0-9a-fA-F]{32}, e.g. fd72014d4c864993a2e5a9287b4a9c5d."+helpHint, args[0])
	}
	return id.String(), nil
}

// ofJob runs f on the job that the one argument names, with a client of the cluster.
func (p *invocation) ofJob(args []string, verb string, f func(c *client.Client, id string) error) error {
	id, err := jobArgument(args, verb)
	if err != nil {
		return err
	}
	c, err := p.client()
	if err != nil {
		return err
	}
	defer c.Close()
	return f(c, id)
}

// cancel is Flink's `cancel`, with and without a savepoint.
func (p *invocation) cancel() *cobra.Command {
	var directory, kind string
	c := &cobra.Command{
		Use: "cancel [OPTIONS] JOB", Short: "Cancel a job",
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("withSavepoint") {
				return p.cancelWithSavepoint(cmd, directory, kind, args)
			}
			return p.ofJob(args, "cancel", func(c *client.Client, id string) error {
				fmt.Fprintf(p.out, "Cancelling job %s.\n", id)
				if err := c.Cancel(cmd.Context(), id); err != nil {
					return unknownJob(action(fmt.Sprintf("Could not cancel job %s.", id), err))
				}
				fmt.Fprintf(p.out, "Cancelled job %s.\n", id)
				return nil
			})
		},
	}
	c.Flags().StringVarP(&directory, "withSavepoint", "s", "", "take a savepoint in `directory` first; deprecated: use stop")
	c.Flags().StringVar(&kind, "type", "canonical", "`format` of the savepoint: canonical or native (-type); both are one here")
	return c
}

func (p *invocation) cancelWithSavepoint(cmd *cobra.Command, directory, kind string, args []string) error {
	directory, args = directoryAndJob(directory, args)
	format, err := format(kind)
	if err != nil {
		return err
	}
	return p.ofJob(args, "cancel", func(c *client.Client, id string) error {
		target := directory
		if target == "" {
			target = "default savepoint directory"
		}
		fmt.Fprintf(p.out, "DEPRECATION WARNING: Cancelling a job with savepoint is deprecated. Use \"stop\" instead.\n"+
			"Cancelling job %s with %s savepoint to %s.\n", id, format, target)
		at, err := c.Savepoint(cmd.Context(), id, client.SavepointRequest{Directory: directory, Format: format, Cancel: true})
		if err != nil {
			return unknown(action(fmt.Sprintf("Could not cancel job %s.", id), err))
		}
		fmt.Fprintf(p.out, "Cancelled job %s. Savepoint stored in %s.\n", id, at)
		return nil
	})
}

// unknownJob gives the exit code of a job that the cluster does not know.
func unknownJob(err error) error {
	if e, ok := errors.AsType[*client.Error](err); ok && e.Status == http.StatusNotFound {
		return &exit{code: exitUnknownJob, err: err}
	}
	return err
}
