package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/rest"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sqlclient"
	"github.com/weirstream/weir/internal/sqlgateway"
	gateway "github.com/weirstream/weir/internal/sqlgateway/client"
)

func (p *invocation) sql() *cobra.Command {
	return &cobra.Command{
		Use: "sql", Short: "Run SQL statements: typed, from a file or from standard input", DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := p.parseSQL(args)
			switch {
			case err != nil:
				return err
			case o.help:
				_, err = io.WriteString(p.out, sqlHelp)
				return err
			case o.version:
				_, err = fmt.Fprintln(p.out, versionLine())
				return err
			}
			return p.runSQL(cmd.Context(), o)
		},
	}
}

// runSQL opens a session, carries out what there is to do and closes the session.
func (p *invocation) runSQL(ctx context.Context, o sqlOptions) error {
	script, initial, err := o.read()
	if err != nil {
		return err
	}
	own, err := p.sqlSettings(o)
	if err != nil {
		return err
	}
	c, end, err := p.openSQL(ctx, o, own)
	if err != nil {
		return err
	}
	defer end()
	err = p.statements(ctx, c, o, script, initial)
	fmt.Fprint(p.out, "\nShutting down the session...\n")
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), sqlCloseTimeout)
	defer cancel()
	if broken := c.Gateway.Close(closing); err == nil && broken != nil {
		err = fmt.Errorf("close the session: %w", broken)
	}
	fmt.Fprint(p.out, "done.\n")
	switch failed, ok := errors.AsType[*sqlclient.Failed](err); {
	case err != nil && ctx.Err() != nil:
		return &exit{code: exitInterrupted}
	case ok:
		return ends(exitFailure, "%s: %w", cmp.Or(o.file, "standard input"), failed)
	}
	return err
}

// sqlCloseTimeout bounds how long the end of a session takes.
const sqlCloseTimeout = 10 * time.Second

// read reads the files that the options name.
func (o sqlOptions) read() (script, initial string, err error) {
	for _, f := range []struct {
		path string
		into *string
	}{{o.file, &script}, {o.init, &initial}} {
		if f.path == "" {
			continue
		}
		text, err := os.ReadFile(strings.TrimPrefix(f.path, "file://"))
		if err != nil {
			return "", "", fmt.Errorf("Failed to read file %s\n%w", f.path, err) //lint:ignore ST1005 Flink's words
		}
		*f.into = string(text)
	}
	return script, initial, nil
}

// sqlSettings gives the settings of -D. Those that the configuration knows hold for this
// process too.
func (p *invocation) sqlSettings(o sqlOptions) (map[string]string, error) {
	own := map[string]string{}
	for _, d := range o.dynamic {
		key, value, ok := strings.Cut(d, "=")
		if !ok || key == "" {
			return nil, usage("-D %s: want KEY=VALUE", d)
		}
		own[strings.TrimSpace(key)] = strings.TrimSpace(value)
		if _, err := config.Explain(key); err == nil {
			p.dynamic = append(p.dynamic, d)
		}
	}
	return own, nil
}

// fromConfig adds the client's settings that the configuration gives and -D does not.
func fromConfig(cfg *config.Config, own map[string]string) {
	add := func(key, value string, set bool) {
		if _, given := own[key]; set && !given {
			own[key] = value
		}
	}
	mode, set := config.SQLClientResultMode.Lookup(cfg)
	add(config.SQLClientResultMode.Key, mode, set)
	rows, set := config.SQLClientMaxTableResultRows.Lookup(cfg)
	add(config.SQLClientMaxTableResultRows.Key, strconv.Itoa(rows), set)
	width, set := config.TableMaxColumnWidth.Lookup(cfg)
	add(config.TableMaxColumnWidth.Key, strconv.Itoa(width), set)
	verbose, set := config.SQLClientVerbose.Lookup(cfg)
	add(config.SQLClientVerbose.Key, strconv.FormatBool(verbose), set)
	cost, set := config.SQLClientPrintTimeCost.Lookup(cfg)
	add(config.SQLClientPrintTimeCost.Key, strconv.FormatBool(cost), set)
}

// openSQL opens a session at a gateway: that of -e, or one in this process.
func (p *invocation) openSQL(ctx context.Context, o sqlOptions, own map[string]string) (*sqlclient.Client, func(), error) {
	cfg, err := p.config()
	if err != nil {
		return nil, nil, err
	}
	c := &sqlclient.Client{Out: p.out, History: o.history}
	if c.History == "" {
		c.History = filepath.Join(config.Home(), "sql-history")
	}
	end := func() {}
	fromConfig(cfg, own)
	with := gateway.Options{Name: o.session, Settings: own}
	if o.gateway {
		c.Gateway, err = gateway.Dial(ctx, o.endpoint, with)
	} else {
		runner, endRunner, local, broken := p.sqlRunner(ctx, cfg)
		if broken != nil {
			return nil, nil, broken
		}
		if local {
			waitForInserts(cfg, own)
		}
		server := sqlgateway.New(sqlgateway.Options{Config: cfg, Engine: sqlrun.NewEngine(cfg, runner), Version: rest.FlinkVersion})
		end = func() {
			server.Close()
			endRunner()
		}
		c.Gateway, err = gateway.Embed(ctx, server, with)
	}
	if err != nil {
		end()
		text := "Failed to create the executor.\n" + gateway.Root(err)
		if o.gateway {
			text += fmt.Sprintf("\nIs an SQL gateway running at %s? `weir sql-gateway` starts one.", o.endpoint)
		}
		return nil, nil, &told{text: text, err: err}
	}
	return c, end, nil
}

const (
	// probeTimeout bounds how long it takes to find out whether somebody listens where a
	// cluster would.
	probeTimeout = 500 * time.Millisecond
	// answerTimeout bounds how long who listens there may take to answer as a cluster. One
	// on a busy machine takes its time, and is none the less a cluster.
	answerTimeout = 10 * time.Second
)

// clusterRuns reports whether a cluster runs at an address.
func clusterRuns(ctx context.Context, cluster *client.Client) bool {
	dialer := net.Dialer{Timeout: probeTimeout}
	connection, err := dialer.DialContext(ctx, "tcp", cluster.Address())
	if err != nil {
		return false
	}
	_ = connection.Close()
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	_, err = cluster.Overview(ctx)
	return err == nil
}

// sqlRunner gives what runs the jobs of statements: the cluster that the configuration
// names, or, if none runs there, this process, which is local. execution.target chooses one
// of them.
func (p *invocation) sqlRunner(ctx context.Context, cfg *config.Config) (r engine.Runner, end func(), local bool, err error) {
	target, chosen := config.ExecutionTarget.Lookup(cfg)
	if chosen && target != "remote" && target != "local" {
		return nil, nil, false, usage("%s is %q; allowed are remote, a running cluster, and local, this process", config.ExecutionTarget.Key, target)
	}
	remote := sqlrun.NewRemote(cfg)
	if target == "remote" || target != "local" && clusterRuns(ctx, remote.Client) {
		return sqlrun.NewCluster(remote), remote.Close, false, nil
	}
	remote.Close()
	runner := sqlrun.NewEmbedded(cfg, nil)
	return runner, runner.Close, true, nil
}

// waitForInserts makes INSERT wait for the end of its job, unless a setting says otherwise:
// what runs in this process ends with it.
func waitForInserts(cfg *config.Config, own map[string]string) {
	_, configured := config.TableDMLSync.Lookup(cfg)
	if _, given := own[config.TableDMLSync.Key]; !given && !configured {
		own[config.TableDMLSync.Key] = "true"
	}
}

// statements carries out the statements there are.
func (p *invocation) statements(ctx context.Context, c *sqlclient.Client, o sqlOptions, script, initial string) error {
	out, terminal := p.out.(*os.File)
	terminal = terminal && sqlclient.IsTerminal(out)
	c.Color = terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if o.init != "" {
		if err := c.Init(ctx, o.init, initial); err != nil {
			return err
		}
	}
	switch {
	case o.file != "":
		c.Executing()
		return c.Script(ctx, script)
	case !terminal || !sqlclient.IsTerminal(os.Stdin):
		return c.Pipe(ctx, os.Stdin)
	}
	c.Terminal = os.Stdin
	c.Progress = p.sqlProgress()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	c.Interrupts = interrupts
	signal.Reset(syscall.SIGTERM)                    // it ends the process, whatever is being typed
	return c.Interactive(context.WithoutCancel(ctx)) // an interrupt ends a query, and no more
}

// sqlProgress tells how far a job is on the cluster that the configuration names.
func (p *invocation) sqlProgress() func(context.Context, string) string {
	cfg, err := p.config()
	if err != nil {
		return nil
	}
	cluster := client.New(net.JoinHostPort(config.RestAddress.In(cfg), strconv.Itoa(config.RestPort.In(cfg))))
	return func(ctx context.Context, job string) string {
		d, err := cluster.Job(ctx, job)
		if err != nil {
			return ""
		}
		return progressOf(&d)
	}
}

// progressOf says how far a job is. One that others leave no slots says that it waits.
func progressOf(d *client.Detail) string {
	finished, waiting, tasks := 0, 0, 0
	for i := range d.Vertices {
		v := &d.Vertices[i]
		tasks += max(0, v.Parallelism)
		finished += v.Tasks["FINISHED"]
		waiting += v.Tasks["SCHEDULED"]
	}
	text := fmt.Sprintf("%s, %d of %d tasks finished", d.State, finished, tasks)
	if waiting > 0 {
		text += fmt.Sprintf(", %d wait for a slot", waiting)
	}
	return text
}
