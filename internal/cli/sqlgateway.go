package cli

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/session"
	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	sql "github.com/weirstream/weir/internal/sql/session"
)

func (p *invocation) sqlGateway() *cobra.Command {
	return &cobra.Command{
		Use: "sql-gateway", Short: "Run an SQL gateway in the foreground", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.serve(cmd.Context(), func(ctx context.Context, o session.Options) error {
				e, end := sqlEngine(o.Config, nil, nil)
				defer end()
				o.SQL = e
				return session.SQLGateway(ctx, o)
			})
		},
	}
}

// sqlEngine makes what carries SQL out. Sessions begin with the settings of the
// configuration and then those given. The function ends all that is left of it.
func sqlEngine(cfg *config.Config, settings map[string]string, log *slog.Logger) (sql.Engine, func()) {
	all := maps.Collect(cfg.Entries())
	maps.Copy(all, settings)
	runner := sqlrun.NewEmbedded(cfg, log)
	return engine.New(engine.Options{Registry: builtin.Registry(), Connectors: builtin.Connectors(), Runner: runner, Settings: all, Now: time.Now}), runner.Close
}
