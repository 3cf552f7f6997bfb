package rest

import (
	"cmp"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// A place is the tasks of a vertex that run on one TaskManager, or that have
// none yet.
type place struct {
	attempts []*execgraph.AttemptView // at least one
	tasks    map[status.Execution]int
}

// places puts the tasks of a vertex together by where they run, in the order
// of the first subtask at each place.
func places(v *execgraph.VertexView) []*place {
	var all []*place
	byID := map[ident.ResourceID]*place{}
	for i := range v.Subtasks {
		a := &v.Subtasks[i].AttemptView
		p := byID[a.TaskManager]
		if p == nil {
			p = &place{tasks: map[status.Execution]int{}}
			byID[a.TaskManager] = p
			all = append(all, p)
		}
		p.attempts = append(p.attempts, a)
		p.tasks[a.State]++
	}
	return all
}

// state makes one state of those of all tasks, as Flink does.
func (p *place) state() status.Execution {
	for _, s := range []status.Execution{status.Failed, status.Canceling, status.Canceled, status.Initializing, status.Running} {
		if p.tasks[s] > 0 {
			return s
		}
	}
	switch p.tasks[status.Finished] {
	case 0:
		return status.Created
	case len(p.attempts):
		return status.Finished
	}
	return status.Running
}

// span is when the first task was deployed and when the last one ended; zero:
// not yet.
func (p *place) span() (start, end time.Time) {
	ended := true
	for _, a := range p.attempts {
		if at := a.Start(); !at.IsZero() && (start.IsZero() || at.Before(start)) {
			start = at
		}
		if at := a.End(); at.After(end) {
			end = at
		}
		ended = ended && a.State.Terminal()
	}
	if !ended {
		end = time.Time{}
	}
	return start, end
}

func (p *place) metrics() ioMetrics {
	var m execgraph.Metrics
	for _, a := range p.attempts {
		m.RecordsIn += a.Metrics.RecordsIn
		m.RecordsOut += a.Metrics.RecordsOut
		m.BytesIn += a.Metrics.BytesIn
		m.BytesOut += a.Metrics.BytesOut
		m.BusyMillis += a.Metrics.BusyMillis
		m.IdleMillis += a.Metrics.IdleMillis
		m.BackpressuredMillis += a.Metrics.BackpressuredMillis
	}
	return metricsOf(m)
}

// placeInfo describes a place.
type placeInfo struct {
	Endpoint    string         `json:"endpoint"`
	Status      string         `json:"status"`
	Start       int64          `json:"start-time"`
	End         int64          `json:"end-time"`
	Duration    int64          `json:"duration"`
	Metrics     ioMetrics      `json:"metrics"`
	Counts      map[string]int `json:"status-counts"`
	TaskManager string         `json:"taskmanager-id"`
	Aggregated  aggregated     `json:"aggregated"`
}

func placeOf(p *place, now time.Time) placeInfo {
	start, stop := p.span()
	until := stop
	if until.IsZero() {
		until = now
	}
	counts := noTasks()
	for state, n := range p.tasks {
		counts[state.String()] = n
	}
	return placeInfo{
		Endpoint: cmp.Or(p.attempts[0].Host, unassigned), Status: p.state().String(), Start: millis(start), End: end(start, stop),
		Duration: age(start, until.Sub(start)), Metrics: p.metrics(), Counts: counts,
		TaskManager: cmp.Or(string(p.attempts[0].TaskManager), unassigned), Aggregated: aggregate(p.attempts, now),
	}
}

// vertexTaskManagers describes the tasks of a vertex by TaskManager.
func (s *Server) vertexTaskManagers(r *request) (answer, error) {
	v, err := s.vertexOf(r, noJobVertex)
	if err != nil {
		return answer{}, err
	}
	now := s.Now()
	all := []placeInfo{}
	for _, p := range places(v) {
		all = append(all, placeOf(p, now))
	}
	return ok(struct {
		ID           ident.VertexID `json:"id"`
		Name         string         `json:"name"`
		Now          int64          `json:"now"`
		TaskManagers []placeInfo    `json:"taskmanagers"`
	}{v.ID, v.Name, millis(now), all})
}
