package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/internal/ident"
)

// format reads the option -type.
func format(text string) (string, error) {
	if name := strings.ToUpper(text); name == "CANONICAL" || name == "NATIVE" {
		return name, nil
	}
	return "", usage("Could not parse the savepoint format %q. Expected one of: [[CANONICAL, NATIVE]]", text)
}

// unknown gives the exit code of a job that the cluster does not know, also where it
// says so of an operation.
func unknown(err error) error {
	if e, failed := errors.AsType[*client.OperationError](err); failed && strings.Contains(e.Trace, "FlinkJobNotFoundException") {
		return &exit{code: exitUnknownJob, err: err}
	}
	return unknownJob(err)
}

// savepoint is Flink's `savepoint`: it takes one, or deletes one.
func (p *invocation) savepoint() *cobra.Command {
	var dispose, kind string
	var detached bool
	c := &cobra.Command{
		Use: "savepoint [OPTIONS] JOB [DIRECTORY]", Short: "Take a savepoint of a job, delete one, or show what one holds", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dispose != "" {
				return p.dispose(cmd, dispose)
			}
			format, err := format(kind)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return usage("Missing JobID. Specify a Job ID to trigger a savepoint." + helpHint)
			}
			r := client.SavepointRequest{Format: format}
			if len(args) > 1 {
				r.Directory = args[1]
			}
			return p.ofJob(args, "savepoint", func(c *client.Client, id string) error { return p.takeSavepoint(cmd, c, id, r, detached) })
		},
	}
	c.Flags().StringVarP(&dispose, "dispose", "d", "", "`path` of a savepoint to delete")
	c.Flags().StringVar(&kind, "type", "canonical", "`format`: canonical or native (-type); both are one here")
	c.Flags().BoolVar(&detached, "detached", false, "return when the savepoint is triggered (-detached)")
	c.AddCommand(p.showSavepoint())
	return c
}

func (p *invocation) takeSavepoint(cmd *cobra.Command, c *client.Client, id string, r client.SavepointRequest, detached bool) error {
	failed := fmt.Sprintf("Failed to trigger a savepoint for the job %s.", id)
	if detached {
		fmt.Fprintf(p.out, "Triggering savepoint in detached mode for job %s.\n", id)
		trigger, err := c.TriggerSavepoint(cmd.Context(), id, r)
		if err != nil {
			return unknown(action(failed, err))
		}
		fmt.Fprintf(p.out, "Successfully trigger manual savepoint, triggerId: %s\n", trigger)
		return nil
	}
	fmt.Fprintf(p.out, "Triggering savepoint for job %s.\nWaiting for response...\n", id)
	at, err := c.Savepoint(cmd.Context(), id, r)
	if err != nil {
		return unknown(action(failed, err))
	}
	fmt.Fprintf(p.out, "Savepoint completed. Path: %s\nYou can resume your program from this savepoint with the run command.\n", at)
	return nil
}

func (p *invocation) dispose(cmd *cobra.Command, path string) error {
	c, err := p.client()
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Fprintf(p.out, "Disposing savepoint '%s'.\nWaiting for response...\n", path)
	if err := c.Dispose(cmd.Context(), path); err != nil {
		return action(fmt.Sprintf("Failed to dispose the savepoint '%s'.", path), err)
	}
	fmt.Fprintf(p.out, "Savepoint '%s' disposed.\n", path)
	return nil
}

// directoryAndJob tells a directory, which may be left out, from the job that follows
// it: where one argument stands for both, it is the job if it can be one.
func directoryAndJob(directory string, args []string) (string, []string) {
	if _, err := ident.Parse(directory); err == nil && len(args) == 0 {
		return "", []string{directory}
	}
	return directory, args
}

// stop is Flink's `stop`: it ends a job by a savepoint.
func (p *invocation) stop() *cobra.Command {
	var directory, kind string
	var drain, detached bool
	c := &cobra.Command{
		Use: "stop [OPTIONS] JOB", Short: "Stop a streaming job by a savepoint",
		RunE: func(cmd *cobra.Command, args []string) error {
			directory, args := directoryAndJob(directory, args)
			format, err := format(kind)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return usage("Missing JobId" + helpHint)
			}
			r := client.SavepointRequest{Directory: directory, Format: format, Stop: true, Drain: drain}
			return p.ofJob(args, "stop", func(c *client.Client, id string) error { return p.stopJob(cmd, c, id, r, detached) })
		},
	}
	c.Flags().StringVarP(&directory, "savepointPath", "p", "", "`directory` for the savepoint; default is execution.checkpointing.savepoint-dir")
	c.Flags().StringVar(&kind, "type", "canonical", "`format` of the savepoint: canonical or native (-type); both are one here")
	c.Flags().BoolVarP(&drain, "drain", "d", false, "fire all windows and timers before the savepoint is taken")
	c.Flags().BoolVar(&detached, "detached", false, "return when the savepoint is triggered (-detached)")
	return c
}

func (p *invocation) stopJob(cmd *cobra.Command, c *client.Client, id string, r client.SavepointRequest, detached bool) error {
	how := "Suspending"
	if r.Drain {
		how = "Draining"
	}
	failed := fmt.Sprintf("Could not stop with a savepoint job \"%s\".", id)
	fmt.Fprintf(p.out, "%s job \"%s\" with a %s savepoint.\n", how, id, r.Format)
	if detached {
		fmt.Fprintf(p.out, "Triggering stop-with-savepoint in detached mode for job %s.\n", id)
		trigger, err := c.TriggerSavepoint(cmd.Context(), id, r)
		if err != nil {
			return unknown(action(failed, err))
		}
		fmt.Fprintf(p.out, "Successfully trigger stop-with-savepoint in detached mode, triggerId: %s\n", trigger)
		return nil
	}
	fmt.Fprintf(p.out, "Triggering stop-with-savepoint for job %s.\nWaiting for response...\n", id)
	at, err := c.Savepoint(cmd.Context(), id, r)
	if err != nil {
		return unknown(action(failed, err))
	}
	fmt.Fprintf(p.out, "Savepoint completed. Path: %s\n", at)
	return nil
}

// checkpoint is Flink's `checkpoint`: it takes one now.
func (p *invocation) checkpoint() *cobra.Command {
	var full bool
	c := &cobra.Command{
		Use: "checkpoint [OPTIONS] JOB", Short: "Take a checkpoint of a job now",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("Missing JobID. Specify a Job ID to manipulate checkpoint." + helpHint)
			}
			return p.ofJob(args, "checkpoint", func(c *client.Client, id string) error {
				fmt.Fprintf(p.out, "Triggering checkpoint for job %s.\nWaiting for response...\n", id)
				checkpoint, err := c.Checkpoint(cmd.Context(), id, full)
				if err != nil {
					return unknown(action(fmt.Sprintf("Failed to trigger a checkpoint for the job %s.", id), err))
				}
				kind := ""
				if full {
					kind = "(FULL)"
				}
				fmt.Fprintf(p.out, "Checkpoint%s %d for job %s completed.\nYou can resume your program from this checkpoint with the run command.\n", kind, checkpoint, id)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&full, "full", false, "one that refers to no older file (-full)")
	return c
}
