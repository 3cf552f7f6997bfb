package cli

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/local"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
)

// readSavepoint reads the metadata of a savepoint or a retained checkpoint on this
// machine, and looks whether its files are there.
func readSavepoint(ctx context.Context, path string) (*snapshot.Metadata, fs.Location, error) {
	at, err := fs.Parse(absolute(path))
	if err != nil {
		return nil, "", usage("%v", err)
	}
	files := fs.ByScheme{"file": local.FileSystem{}}
	m, dir, err := storage.Read(ctx, files, at)
	if err == nil {
		err = storage.Verify(ctx, files, m, false)
	}
	if err != nil {
		return nil, "", ends(exitFailure, "Could not read the savepoint %s.\n%w", path, err)
	}
	return m, dir, nil
}

// shownSavepoint is a savepoint as `savepoint show` prints it.
type shownSavepoint struct {
	Path       string          `json:"path"`
	Kind       string          `json:"kind"`
	Format     string          `json:"format,omitempty"`
	Checkpoint int64           `json:"checkpoint"`
	Job        string          `json:"job"`
	JobName    string          `json:"jobName"`
	Taken      time.Time       `json:"taken"`
	Version    string          `json:"version"`
	Bytes      int64           `json:"bytes"`
	Operators  []shownOperator `json:"operators"`
}

type shownOperator struct {
	ID             string       `json:"id"`
	UID            string       `json:"uid,omitempty"`
	Name           string       `json:"name"`
	Parallelism    int          `json:"parallelism"`
	MaxParallelism int          `json:"maxParallelism"`
	Finished       bool         `json:"finished,omitempty"`
	Coordinator    int64        `json:"coordinatorBytes,omitempty"`
	States         []shownState `json:"states"`
}

type shownState struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Key   string `json:"key,omitempty"`
	Type  string `json:"type"`
	TTL   string `json:"ttl,omitempty"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

func shown(m *snapshot.Metadata, dir fs.Location) shownSavepoint {
	s := shownSavepoint{
		Path: dir.String(), Kind: m.Kind.String(), Checkpoint: m.Checkpoint, Job: m.Job.String(), JobName: m.JobName, Taken: m.Triggered, Version: m.Version, Bytes: m.Size(),
	}
	if m.Kind.Savepoint() {
		s.Format = m.Format.String()
	}
	for i := range m.Operators {
		o := &m.Operators[i]
		operator := shownOperator{
			ID: o.ID.String(), UID: o.UID, Name: o.Name, Parallelism: o.Parallelism, MaxParallelism: o.MaxParallelism,
			Finished: o.Finished, Coordinator: o.Coordinator.Length, States: []shownState{},
		}
		for _, state := range o.Summary() {
			one := shownState{Name: state.Name, Kind: state.Kind, Key: state.Key, Type: state.Type(), Rows: state.Rows, Bytes: state.Bytes}
			if state.TTL > 0 {
				one.TTL = state.TTL.String()
			}
			operator.States = append(operator.States, one)
		}
		s.Operators = append(s.Operators, operator)
	}
	return s
}

// showSavepoint prints what a savepoint holds.
func (p *invocation) showSavepoint() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show PATH", Short: "Show what a savepoint or a retained checkpoint holds", Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("savepoint show: want the path of one savepoint, got %d"+helpHint, len(args))
			}
			m, dir, err := readSavepoint(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return p.json(shown(m, dir))
			}
			p.printSavepoint(shown(m, dir))
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

func (p *invocation) printSavepoint(s shownSavepoint) {
	fmt.Fprintf(p.out, "%s %d of job %s (%s), taken %s\n%s, %d bytes\n\n", s.Kind, s.Checkpoint, s.Job, s.JobName, s.Taken.UTC().Format(time.DateTime), s.Path, s.Bytes)
	table := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "OPERATOR\tSTATE\tKIND\tKEY\tTYPE\tROWS\tBYTES")
	for _, o := range s.Operators {
		name := o.Name
		if o.UID != "" {
			name += " (uid " + o.UID + ")"
		}
		name += fmt.Sprintf(" %d/%d", o.Parallelism, o.MaxParallelism)
		what := "-"
		switch {
		case o.Finished:
			what = "finished"
		case o.Coordinator > 0:
			what = fmt.Sprintf("coordinator: %d bytes", o.Coordinator)
		}
		if len(o.States) == 0 || o.Coordinator > 0 {
			fmt.Fprintf(table, "%s\t%s\t\t\t\t\t\n", name, what)
			name = ""
		}
		for _, state := range o.States {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%d\n", name, state.Name, state.Kind, state.Key, state.Type, state.Rows, state.Bytes)
			name = ""
		}
	}
	table.Flush()
}
