package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/status"
)

// unassigned stands for the place of a task that has none.
const unassigned = "(unassigned)"

func (s *Server) vertexRoutes() []route {
	const vertex = "/jobs/:jobid/vertices/:vertexid"
	return []route{
		get(vertex, s.vertex),
		get(vertex+"/subtasktimes", s.subtaskTimes),
		get(vertex+"/taskmanagers", s.vertexTaskManagers),
		get(vertex+"/accumulators", s.vertexAccumulators),
		get(vertex+"/metrics", s.vertexMetrics),
		get(vertex+"/jm-operator-metrics", s.operatorMetrics),
		get(vertex+"/watermarks", s.watermarks),
		get(vertex+"/backpressure", s.backPressure),
		get(vertex+"/flamegraph", s.flameGraph),
		get(vertex+"/subtasks/accumulators", s.subtaskAccumulators),
		get(vertex+"/subtasks/metrics", s.subtasksMetrics),
		get(vertex+"/subtasks/:subtaskindex", s.subtask),
		get(vertex+"/subtasks/:subtaskindex/metrics", s.subtaskMetrics),
		get(vertex+"/subtasks/:subtaskindex/attempts/:attempt", s.attempt),
		get(vertex+"/subtasks/:subtaskindex/attempts/:attempt/accumulators", s.attemptAccumulators),
	}
}

// ioMetrics are the counts of an attempt, or the sums of several.
type ioMetrics struct {
	ReadBytes            int64  `json:"read-bytes"`
	ReadBytesComplete    bool   `json:"read-bytes-complete"`
	WriteBytes           int64  `json:"write-bytes"`
	WriteBytesComplete   bool   `json:"write-bytes-complete"`
	ReadRecords          int64  `json:"read-records"`
	ReadRecordsComplete  bool   `json:"read-records-complete"`
	WriteRecords         int64  `json:"write-records"`
	WriteRecordsComplete bool   `json:"write-records-complete"`
	BackPressured        int64  `json:"accumulated-backpressured-time"`
	Idle                 int64  `json:"accumulated-idle-time"`
	Busy                 double `json:"accumulated-busy-time"`
}

func metricsOf(m execgraph.Metrics) ioMetrics {
	return ioMetrics{
		m.BytesIn, true, m.BytesOut, true, m.RecordsIn, true, m.RecordsOut, true,
		m.BackpressuredMillis, m.IdleMillis, double(m.BusyMillis),
	}
}

// lifeStates are the states whose length is told.
var lifeStates = []status.Execution{status.Created, status.Scheduled, status.Deploying, status.Initializing, status.Running}

// attemptInfo describes one attempt.
type attemptInfo struct {
	Subtask     int              `json:"subtask"`
	Status      string           `json:"status"`
	Attempt     int              `json:"attempt"`
	Endpoint    string           `json:"endpoint"`
	Start       int64            `json:"start-time"`
	End         int64            `json:"end-time"`
	Duration    int64            `json:"duration"`
	Metrics     ioMetrics        `json:"metrics"`
	TaskManager string           `json:"taskmanager-id"`
	Durations   map[string]int64 `json:"status-duration"`
	StartAgain  int64            `json:"start_time"` // as Flink has it, twice
	// Others are the other attempts that run at the same time.
	Others []attemptInfo `json:"other-concurrent-attempts,omitempty"`
}

func attemptOf(a *execgraph.AttemptView, now time.Time) attemptInfo {
	start := a.Start()
	return attemptInfo{
		Subtask: a.ID.Subtask, Status: a.State.String(), Attempt: a.ID.Attempt, Endpoint: cmp.Or(a.Host, unassigned),
		Start: millis(start), End: end(start, a.End()), Duration: age(start, a.Duration(now)), Metrics: metricsOf(a.Metrics),
		TaskManager: cmp.Or(string(a.TaskManager), unassigned), Durations: durationsOf(a, now), StartAgain: millis(start),
	}
}

func durationsOf(a *execgraph.AttemptView, now time.Time) map[string]int64 {
	durations := map[string]int64{}
	for _, state := range lifeStates {
		if d := a.StateDuration(state, now); d >= 0 {
			durations[state.String()] = d.Milliseconds()
		} else {
			durations[state.String()] = -1
		}
	}
	return durations
}

// vertexOf asks for the vertex the path names. Flink has one text for paths
// that look at the job and another for those that look at the execution.
func (s *Server) vertexOf(r *request, missing func(ident.VertexID) *failure) (*execgraph.VertexView, error) {
	id, err := r.vertexID()
	if err != nil {
		return nil, err
	}
	v, err := s.view(r)
	if err != nil {
		return nil, err
	}
	if vertex := v.Vertex(id); vertex != nil {
		return vertex, nil
	}
	return nil, missing(id)
}

func noJobVertex(id ident.VertexID) *failure {
	return fail(http.StatusNotFound, notFoundException+fmt.Sprintf("JobVertex %s not found", id))
}

func noVertex(id ident.VertexID) *failure {
	return fail(http.StatusNotFound, restException+fmt.Sprintf("No vertex with ID '%s' exists.", id))
}

func (s *Server) vertex(r *request) (answer, error) {
	v, err := s.vertexOf(r, noJobVertex)
	if err != nil {
		return answer{}, err
	}
	now := s.Now()
	subtasks := []attemptInfo{}
	attempts := make([]*execgraph.AttemptView, len(v.Subtasks))
	for i := range v.Subtasks {
		attempts[i] = &v.Subtasks[i].AttemptView
		subtasks = append(subtasks, attemptOf(attempts[i], now))
	}
	return ok(struct {
		ID             ident.VertexID `json:"id"`
		Name           string         `json:"name"`
		Parallelism    int            `json:"parallelism"`
		MaxParallelism int            `json:"maxParallelism"`
		Now            int64          `json:"now"`
		Subtasks       []attemptInfo  `json:"subtasks"`
		Aggregated     aggregated     `json:"aggregated"`
	}{v.ID, v.Name, parallelismOf(v.Parallelism), v.MaxParallelism, millis(now), subtasks, aggregate(attempts, now)})
}

func (s *Server) subtaskTimes(r *request) (answer, error) {
	v, err := s.vertexOf(r, noVertex)
	if err != nil {
		return answer{}, err
	}
	now := s.Now()
	type times struct {
		Subtask  int              `json:"subtask"`
		Endpoint string           `json:"endpoint"`
		Duration int64            `json:"duration"`
		Stamps   map[string]int64 `json:"timestamps"`
	}
	all := []times{}
	for i := range v.Subtasks {
		a := &v.Subtasks[i].AttemptView
		stamps := map[string]int64{}
		for state, at := range a.Stamps {
			stamps[status.Execution(state).String()] = stamp(at)
		}
		// Flink counts from SCHEDULED here, and from DEPLOYING elsewhere.
		scheduled, until := a.Since(status.Scheduled), a.End()
		if until.IsZero() {
			until = now
		}
		all = append(all, times{i, cmp.Or(a.Host, unassigned), age(scheduled, until.Sub(scheduled)), stamps})
	}
	return ok(struct {
		ID       ident.VertexID `json:"id"`
		Name     string         `json:"name"`
		Now      int64          `json:"now"`
		Subtasks []times        `json:"subtasks"`
	}{v.ID, v.Name, millis(now), all})
}
