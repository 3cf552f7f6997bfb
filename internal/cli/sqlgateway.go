package cli

import (
	"github.com/spf13/cobra"

	"github.com/weirstream/weir/internal/cluster/session"
)

func (p *invocation) sqlGateway() *cobra.Command {
	return &cobra.Command{
		Use: "sql-gateway", Short: "Run an SQL gateway in the foreground", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd.Context(), session.SQLGateway) },
	}
}
