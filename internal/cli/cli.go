// Package cli is the command line: it reads arguments as Flink's command line
// does, talks to a cluster through package client, and prints what scripts rely
// on.
//
// It promises the exit codes and output lines of the command line's contract:
// lines that Flink prints are Flink's, byte for byte; an error is said on
// standard error in one line of what, one of why and, where it helps, one of what
// to do. It never decides anything about a job by itself.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/config"
)

// The exit codes that scripts rely on.
const (
	exitFailure     = 1
	exitUsage       = 2
	exitUnknownJob  = 3
	exitConfig      = config.ExitCode
	exitInterrupted = 130
)

// exit is an error that ends the program with a code of its own.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return e.err.Error() }
func (e *exit) Unwrap() error { return e.err }

func usage(format string, args ...any) error { return ends(exitUsage, format, args...) }

// ends makes the error that ends the program with code and says, in sentences,
// what a person should read.
func ends(code int, format string, args ...any) error {
	return &exit{code: code, err: fmt.Errorf(format, args...)}
}

// invocation is one run of the command line.
type invocation struct {
	out, err io.Writer
	dynamic  []string // -D
	manager  string   // -m
	dir      string   // --config-dir
	target   string   // -t
}

// Main runs the command line and gives the exit code.
func Main(args []string, out, errOut io.Writer) int {
	if status, is := sqlWorker(errOut); is {
		return status
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := &invocation{out: out, err: errOut}
	root := p.root()
	root.SetArgs(flinkArguments(args))
	root.SetOut(out)
	root.SetErr(errOut)
	return p.code(root.ExecuteContext(ctx))
}

// code prints err and gives the exit code it means.
func (p *invocation) code(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*exit](err); ok {
		if e.err != nil {
			fmt.Fprintln(p.err, e.err)
		}
		return e.code
	}
	fmt.Fprintln(p.err, err)
	if e, ok := errors.AsType[*config.Error](err); ok && len(e.Problems) > 0 {
		return exitConfig
	}
	return exitFailure
}

func (p *invocation) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "weir",
		Short: "A distributed engine for stateful stream and batch jobs",
		Long: "Weir runs stateful stream and batch jobs, written in Go, on a cluster of processes.\n" +
			"`weir cluster start` starts one on this machine; `weir run PROGRAM` runs a job on it.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionLine(),
		Args:          p.unknownAction,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		text := noNumber.ReplaceAllLiteralString(err.Error(), "want a whole number")
		return usage("%s\n\nUse the help option (-h or --help) to get help on the command.", text)
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	f := root.PersistentFlags()
	f.StringArrayVarP(&p.dynamic, "define", "D", nil, "`key=value` of the configuration; may be repeated")
	f.StringVarP(&p.manager, "jobmanager", "m", "", "`host:port` of the cluster's REST server")
	f.StringVar(&p.dir, "config-dir", "", "`directory` that holds config.yaml")
	f.StringVarP(&p.target, "target", "t", "", "deployment `target`: remote")
	root.AddCommand(p.run(), p.list(), p.info(), p.cancel(), p.stop(), p.savepoint(), p.checkpoint(), p.upgrade(), p.exceptions(), p.why(), p.version(), p.jobManager(), p.taskManager(), p.historyServer(), p.sql(), p.sqlGateway(), p.cluster(), p.configuration(), p.memory())
	return root
}

// noNumber is what the standard library says of text that is no number.
var noNumber = regexp.MustCompile(`strconv\.Parse(Int|Uint): parsing ".*": [a-z ]+`)

// noArguments refuses arguments of a verb that takes none, or only verbs of its own.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	path := strings.TrimPrefix(c.CommandPath(), "weir ")
	if !c.HasAvailableSubCommands() {
		return usage("%s: got the argument %q, want none", path, args[0])
	}
	var there []string
	for _, s := range c.Commands() {
		if s.IsAvailableCommand() {
			there = append(there, s.Name())
		}
	}
	return usage("%s: %q is none of %s", path, args[0], strings.Join(there, ", "))
}

// unknownAction answers a verb that does not exist as Flink does.
func (p *invocation) unknownAction(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage("%q is not a valid action.\n\nValid actions are \"run\", \"list\", \"info\", \"cancel\", \"stop\", \"savepoint\", \"checkpoint\", \"cluster\", \"config\", \"exceptions\", \"historyserver\", \"jobmanager\", \"memory\", \"sql\", \"sql-gateway\", \"taskmanager\", \"upgrade\", \"version\" and \"why\".\n\n"+
		"Use the help option (-h or --help) to get help on the command.", args[0])
}

// flinkLong are Flink's options of several letters after one dash.
var flinkLong = map[string]string{
	"-sae": "--shutdownOnAttachedExit",
	"-cm":  "--claimMode",
	"-rm":  "--restoreMode",

	"-detached": "--detached",
	"-dispose":  "--dispose",
	"-drain":    "--drain",
	"-full":     "--full",
	"-type":     "--type",
}

// valued are the options whose value may be the next argument.
var valued = []string{"-D", "--define", "-m", "--jobmanager", "-t", "--target", "--config-dir", "-p", "--parallelism", "-s", "--fromSavepoint",
	"-c", "--class", "--claimMode", "--restoreMode", "--taskmanagers"}

// programVerbs are followed by a program, and that by arguments of its own.
var programVerbs = []string{"run", "info"}

// flinkArguments gives args as the flag library reads them. What follows a
// program's name, which comes after the verb, is its own and is not touched.
func flinkArguments(args []string) []string {
	out := make([]string, 0, len(args))
	verb := ""
	for i := 0; i < len(args); i++ {
		a := args[i]
		word := !strings.HasPrefix(a, "-")
		program := slices.Contains(programVerbs, verb)
		if a == "--" || word && program {
			return append(out, args[i:]...)
		}
		if word && verb == "" {
			verb = a
		}
		if long, ok := flinkLong[a]; ok {
			a = long
		}
		out = append(out, a)
		if (program || verb == "") && slices.Contains(valued, a) && i+1 < len(args) {
			i++
			out = append(out, args[i])
		}
	}
	return out
}

// config loads the configuration that the options name.
func (p *invocation) config() (*config.Config, error) {
	dir := p.dir
	if dir == "" {
		dir = config.Dir()
		if err := config.WriteDefault(dir); err != nil {
			return nil, err
		}
	}
	return config.Load(dir, p.dynamic)
}

// client gives the client of the cluster that the options name.
func (p *invocation) client() (*client.Client, error) {
	if p.target != "" && p.target != "remote" {
		return nil, usage("deployment target %q: only remote, a running cluster, can be chosen", p.target)
	}
	c, err := p.config()
	if err != nil {
		return nil, err
	}
	address := p.manager
	if address == "" {
		address = net.JoinHostPort(config.RestAddress.In(c), strconv.Itoa(config.RestPort.In(c)))
	}
	host, port, err := net.SplitHostPort(address)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || host == "" || bad != nil || n == 0 {
		return nil, usage("-m %s: want HOST:PORT of the cluster's REST server, such as localhost:8081", address)
	}
	return client.New(address), nil
}
