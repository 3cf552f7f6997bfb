package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/weirstream/weir/bench/process"
)

// embedded is `weir sql` with no cluster: each query is a process of its own.
type embedded struct {
	weir, home, tables string
}

// openEmbedded makes a home without a cluster. Its configuration names a port
// that nobody listens on, because another's cluster may be running on the usual one.
func openEmbedded(weir, tables string) (*embedded, error) {
	home, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a home for weir: %w", err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		defer free.Close()
		_, port, _ := net.SplitHostPort(free.Addr().String())
		err = configure(home, "rest.port: "+port)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	return &embedded{weir, home, tables}, nil
}

// configure writes the configuration file of a home.
func configure(home, text string) error {
	dir := filepath.Join(home, "conf")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("configure weir: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text+"\n"), 0o644); err != nil {
		return fmt.Errorf("configure weir: %w", err)
	}
	return nil
}

func (e *embedded) command(ctx context.Context, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, e.weir, arguments...)
	cmd.Env = append(os.Environ(), "WEIR_HOME="+e.home)
	return cmd
}

func (e *embedded) query(ctx context.Context, sql string) (answer, cost, error) {
	a, u, err := runScript(e.home, script(e.tables, sql), func(file string) *exec.Cmd { return e.command(ctx, "sql", "-f", file) })
	return a, cost{wall: u.Wall, cpu: u.CPU}, err
}

func (e *embedded) close() error { return os.RemoveAll(e.home) }

// runScript lets a client carry out a script, which is put into dir.
func runScript(dir, text string, command func(file string) *exec.Cmd) (answer, process.Usage, error) {
	file := filepath.Join(dir, "query.sql")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return answer{}, process.Usage{}, fmt.Errorf("write a query: %w", err)
	}
	out, u, err := process.Run(command(file))
	a, read := readTableau(string(out))
	if err == nil || len(out) > 0 && read != nil {
		err = read // says more than the exit code
	}
	return a, u, err
}

// clustered is a cluster of one JobManager and one TaskManager, and `weir sql` as its client.
type clustered struct {
	*process.Cluster
	tables string
}

func openClustered(ctx context.Context, weir, tables string, slots int, options ...string) (*clustered, error) {
	c, err := process.Start(ctx, weir, 1, slots, options...)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(c.REST)
	if err == nil {
		err = configure(c.Home, "rest.port: "+port+"\nexecution.target: remote")
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return &clustered{c, tables}, nil
}

func (c *clustered) query(ctx context.Context, sql string) (answer, cost, error) {
	before, err := c.Seconds()
	if err != nil {
		return answer{}, cost{}, err
	}
	a, u, err := runScript(c.Home, script(c.tables, sql), func(file string) *exec.Cmd {
		cmd := c.Command("sql", "-f", file)
		go func() {
			<-ctx.Done()
			if cmd.Process != nil {
				_ = cmd.Process.Kill()
			}
		}()
		return cmd
	})
	if err != nil {
		return answer{}, cost{}, err
	}
	after, err := c.Seconds()
	return a, cost{wall: u.Wall, cpu: after - before + u.CPU, client: u.CPU}, err
}

func (c *clustered) close() error { return c.Stop() }
