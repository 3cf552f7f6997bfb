package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/internal/cluster/session"
)

func (p *invocation) jobManager() *cobra.Command {
	return &cobra.Command{
		Use: "jobmanager", Short: "Run a JobManager in the foreground", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd.Context(), session.JobManager) },
	}
}

func (p *invocation) taskManager() *cobra.Command {
	return &cobra.Command{
		Use: "taskmanager", Short: "Run a TaskManager in the foreground", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd.Context(), session.TaskManager) },
	}
}

func (p *invocation) historyServer() *cobra.Command {
	return &cobra.Command{
		Use: "historyserver", Short: "Serve the REST API from the archives of ended jobs, in the foreground", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd.Context(), session.HistoryServer) },
	}
}

// serve runs a process until it is interrupted or cannot go on. SIGHUP makes it
// read its configuration again.
func (p *invocation) serve(ctx context.Context, run func(context.Context, session.Options) error) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	reread, stop := p.hangups(ctx, end)
	defer stop()
	defer end(nil)
	return run(ctx, session.Options{Config: cfg, Version: Version, Commit: revision(), Built: built(), Stderr: p.err, Reread: reread})
}
