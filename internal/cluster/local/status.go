//go:build unix

package local

import (
	"context"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/addressfile"
)

// A Status is what there is to say of a cluster.
type Status struct {
	// Processes are those that Start began and Stop has not ended.
	Processes []ProcessStatus `json:"processes"`
	REST      string          `json:"rest"` // host:port; empty: the JobManager does not run
	// Overview is what the JobManager says; nil: it does not answer, because of
	// Unanswered.
	Overview   *Overview `json:"overview"`
	Unanswered string    `json:"unanswered,omitempty"`
}

// A ProcessStatus is one line of the table.
type ProcessStatus struct {
	Process
	Running bool `json:"running"` // otherwise it has ended by itself
}

// Inspect looks at a cluster and changes nothing. A cluster that was never
// started has no processes.
func Inspect(ctx context.Context, o Options) (Status, error) {
	var s Status
	run := config.RunDir(o.Config)
	processes, err := recorded(run)
	if err != nil {
		return s, err
	}
	for _, p := range processes {
		running := p.Runs()
		s.Processes = append(s.Processes, ProcessStatus{Process: p, Running: running})
		if p.Role != JobManager || !running {
			continue
		}
		at, ok, err := addressfile.Read(addressfile.Path(run, p.PID))
		if err != nil {
			return s, err
		}
		if ok {
			s.REST = at.REST
		}
	}
	if s.REST == "" {
		return s, nil
	}
	overview, err := ask(ctx, o.Config, s.REST)
	if err != nil {
		s.Unanswered = err.Error()
		return s, nil
	}
	s.Overview = &overview
	return s, nil
}
