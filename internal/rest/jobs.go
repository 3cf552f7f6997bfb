package rest

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/status"
)

func (s *Server) jobRoutes() []route {
	return []route{
		get("/jobs", s.jobs),
		endpoint(http.MethodPost, "/jobs", "JobSubmitRequestBody", s.submitJVM).reading(),
		get("/jobs/overview", s.jobsOverview),
		get("/jobs/metrics", s.jobsMetrics),
		get("/jobs/:jobid", s.job),
		endpoint(http.MethodPatch, "/jobs/:jobid", emptyBody, s.cancel),
		get("/jobs/:jobid/yarn-cancel", s.cancel).acting(),
		get("/jobs/:jobid/status", s.status),
		get("/jobs/:jobid/plan", s.plan),
		get("/jobs/:jobid/config", s.jobConfig),
		get("/jobs/:jobid/exceptions", s.exceptions),
		get("/jobs/:jobid/execution-result", s.result),
		get("/jobs/:jobid/metrics", s.jobMetrics),
		get("/jobs/:jobid/accumulators", s.jobAccumulators),
		get("/jobs/:jobid/checkpoints", s.checkpoints),
		get("/jobs/:jobid/checkpoints/config", s.checkpointConfig),
		get("/jobs/:jobid/checkpoints/details/:checkpointid", s.checkpointDetails),
		get("/jobs/:jobid/checkpoints/details/:checkpointid/subtasks/:vertexid", s.checkpointSubtasks),
	}
}

// view asks for the job the path names.
func (s *Server) view(r *request) (execgraph.View, error) {
	id, err := r.jobID()
	if err != nil {
		return execgraph.View{}, err
	}
	return s.Jobs.Job(r.Context(), id)
}

func (s *Server) jobs(r *request) (answer, error) {
	views, err := s.Jobs.Jobs(r.Context())
	if err != nil {
		return answer{}, err
	}
	type one struct {
		ID     ident.JobID `json:"id"`
		Status string      `json:"status"`
	}
	all := []one{}
	for i := range views {
		all = append(all, one{views[i].Job, views[i].State.String()})
	}
	return ok(struct {
		Jobs []one `json:"jobs"`
	}{all})
}

// submitJVM refuses what the Flink client posts: a plan that only a JVM reads.
func (s *Server) submitJVM(*request) (answer, error) {
	return answer{}, fail(http.StatusBadRequest,
		"This cluster runs Go jobs; JVM job graphs cannot be executed. Submit a Go job binary through /jars/upload and /jars/:id/run, or with `weir run`.")
}

// jobOverview is one line of the list of jobs.
type jobOverview struct {
	ID           ident.JobID    `json:"jid"`
	Name         string         `json:"name"`
	Type         string         `json:"jobType"`
	Scheduler    string         `json:"schedulerType"`
	Start        int64          `json:"start-time"`
	End          int64          `json:"end-time"`
	Duration     int64          `json:"duration"`
	State        string         `json:"state"`
	LastModified int64          `json:"last-modification"`
	Tasks        map[string]int `json:"tasks"` // by state in lower case, and total
	Pending      int            `json:"pending-operators"`
}

func (s *Server) jobsOverview(r *request) (answer, error) {
	views, err := s.Jobs.Jobs(r.Context())
	if err != nil {
		return answer{}, err
	}
	now := s.Now()
	all := []jobOverview{}
	for i := range views {
		all = append(all, overviewOf(&views[i], now))
	}
	return ok(struct {
		Jobs []jobOverview `json:"jobs"`
	}{all})
}

func overviewOf(v *execgraph.View, now time.Time) jobOverview {
	tasks := map[string]int{"total": 0}
	for state, n := range v.Tasks() {
		tasks[strings.ToLower(status.Execution(state).String())] = n
		tasks["total"] += n
	}
	return jobOverview{
		ID: v.Job, Name: v.Name, Type: jobType(v.Plan), Scheduler: scheduler(v), Start: millis(v.Start), End: millis(v.End),
		Duration: v.Duration(now).Milliseconds(), State: v.State.String(), LastModified: lastModified(v), Tasks: tasks,
	}
}

// lastModified is the last time at which the job or a task of it took a step.
func lastModified(v *execgraph.View) int64 {
	last := v.Start
	later := func(t time.Time) {
		if t.After(last) {
			last = t
		}
	}
	for _, t := range v.Stamps {
		later(t)
	}
	for _, vertex := range v.Vertices {
		for i := range vertex.Subtasks {
			for _, t := range vertex.Subtasks[i].Stamps {
				later(t)
			}
		}
	}
	return millis(last)
}

// scheduler is the name of Flink's scheduler that works as ours does for a job.
func scheduler(job *execgraph.View) string {
	if job.Adaptive != nil {
		return "Adaptive"
	}
	g := job.Plan
	for _, v := range g.Vertices {
		for _, set := range v.Produces {
			if set.Type == jobgraph.Pipelined {
				return "Default"
			}
		}
	}
	if g.Batch {
		return "AdaptiveBatch"
	}
	return "Default"
}

func jobType(g *jobgraph.Graph) string {
	if g != nil && g.Batch {
		return "BATCH"
	}
	return "STREAMING"
}

// jobVertex is one vertex in the description of a job.
type jobVertex struct {
	ID               ident.VertexID `json:"id"`
	SlotSharingGroup ident.ID       `json:"slotSharingGroupId"`
	Name             string         `json:"name"`
	MaxParallelism   int            `json:"maxParallelism"`
	Parallelism      int            `json:"parallelism"`
	Status           string         `json:"status"`
	Start            int64          `json:"start-time"`
	End              int64          `json:"end-time"`
	Duration         int64          `json:"duration"`
	Tasks            map[string]int `json:"tasks"`
	Metrics          ioMetrics      `json:"metrics"`
	// What follows is ours.
	Reason string  `json:"parallelismReason"` // empty while it is not decided
	Splits *splits `json:"splits,omitempty"`  // of a source that has said
}

type splits struct {
	Count int   `json:"count"`
	Bytes int64 `json:"bytes"`
}

func splitsOf(v *execgraph.VertexView) *splits {
	if v.Splits == nil {
		return nil
	}
	return &splits{v.Splits.Count, v.Splits.Bytes}
}

// parallelismOf is a number of subtasks as Flink shows it; -1: not decided yet.
func parallelismOf(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

func (s *Server) job(r *request) (answer, error) {
	v, err := s.view(r)
	if err != nil {
		return answer{}, err
	}
	now := s.Now()
	stamps := map[string]int64{}
	for state, at := range v.Stamps {
		stamps[status.Job(state).String()] = stamp(at)
	}
	counts := noTasks()
	vertices := []jobVertex{}
	for _, vertex := range v.Vertices {
		counts[vertex.Status.String()]++
		vertices = append(vertices, jobVertex{
			ID: vertex.ID, SlotSharingGroup: vertex.SlotSharingGroup, Name: vertex.Name, MaxParallelism: vertex.MaxParallelism,
			Reason: vertex.Why, Splits: splitsOf(vertex),
			Parallelism: parallelismOf(vertex.Parallelism), Status: vertex.Status.String(), Start: millis(vertex.Start), End: end(vertex.Start, vertex.End),
			Duration: age(vertex.Start, vertex.Duration(now)), Tasks: taskCounts(vertex), Metrics: metricsOf(vertex.Metrics),
		})
	}
	return ok(struct {
		ID             ident.JobID      `json:"jid"`
		Application    ident.JobID      `json:"application-id"`
		Name           string           `json:"name"`
		Stoppable      bool             `json:"isStoppable"`
		State          string           `json:"state"`
		Type           string           `json:"job-type"`
		Scheduler      string           `json:"schedulerType"`
		Start          int64            `json:"start-time"`
		End            int64            `json:"end-time"`
		Duration       int64            `json:"duration"`
		MaxParallelism int              `json:"maxParallelism"`
		Now            int64            `json:"now"`
		Stamps         map[string]int64 `json:"timestamps"`
		Vertices       []jobVertex      `json:"vertices"`
		Counts         map[string]int   `json:"status-counts"`
		Plan           jobPlan          `json:"plan"`
		Pending        int              `json:"pending-operators"`
		// What follows is ours.
		Last *lastRescale `json:"lastRescale,omitempty"`
	}{
		v.Job, v.Job, v.Name, false, v.State.String(), jobType(v.Plan), scheduler(&v), millis(v.Start), millis(v.End),
		v.Duration(now).Milliseconds(), -1, millis(now), stamps, vertices, counts, planOf(v.Plan, &v), 0, lastRescaleOf(&v),
	})
}

// end is the end of something that may not have begun; -1: neither.
func end(start, at time.Time) int64 {
	if start.IsZero() {
		return -1
	}
	return millis(at)
}

// age is how long something has run; -1 before it has begun.
func age(start time.Time, d time.Duration) int64 {
	if start.IsZero() {
		return -1
	}
	return d.Milliseconds()
}

// noTasks counts nothing in each state.
func noTasks() map[string]int {
	counts := map[string]int{}
	for _, state := range status.Executions() {
		counts[state.String()] = 0
	}
	return counts
}

func taskCounts(v *execgraph.VertexView) map[string]int {
	counts := noTasks()
	for state, n := range v.Tasks {
		counts[status.Execution(state).String()] = n
	}
	return counts
}

func (s *Server) status(r *request) (answer, error) {
	v, err := s.view(r)
	if err != nil {
		return answer{}, err
	}
	return ok(struct {
		Status string `json:"status"`
	}{v.State.String()})
}

// jobConfig is the job's own part of the configuration. Java clients read
// execution-config strictly: it holds exactly these fields.
func (s *Server) jobConfig(r *request) (answer, error) {
	v, err := s.view(r)
	if err != nil {
		return answer{}, err
	}
	type execution struct {
		Restart     string            `json:"restart-strategy"`
		Parallelism int               `json:"job-parallelism"`
		ObjectReuse bool              `json:"object-reuse-mode"`
		User        map[string]string `json:"user-config"`
	}
	user := map[string]string{}
	for key, value := range v.Plan.Configuration {
		user[key] = hide(key, value)
	}
	return ok(struct {
		ID        ident.JobID `json:"jid"`
		Name      string      `json:"name"`
		Execution execution   `json:"execution-config"`
	}{v.Job, v.Name, execution{restartDescription(v.Plan.Configuration), parallelism(v.Plan), true, user}})
}

// parallelism is what the job was given, or the greatest of its vertices.
func parallelism(g *jobgraph.Graph) int {
	if p, err := strconv.Atoi(g.Configuration[config.ParallelismDefault.Key]); err == nil && p > 0 {
		return p
	}
	greatest := 1
	for _, v := range g.Vertices {
		greatest = max(greatest, v.Parallelism)
	}
	return greatest
}

// cancel serves both ways to cancel a job.
func (s *Server) cancel(r *request) (answer, error) {
	id, err := r.jobID()
	if err != nil {
		return answer{}, err
	}
	switch mode := r.query.Get("mode"); strings.ToLower(mode) {
	case "", "cancel":
	case "stop":
		return answer{}, stopRemoved()
	default:
		return answer{}, badParameter("query", "mode", mode)
	}
	a, err := s.cancelJob(r, id)
	var missing *dispatcher.NotFoundError
	if errors.As(err, &missing) {
		return answer{}, fail(http.StatusNotFound, restException+"Job could not be found.", noJobException+missing.Error())
	}
	return a, err
}

// stopRemoved refuses a way to stop jobs that Flink has had.
func stopRemoved() error {
	return fail(http.StatusPermanentRedirect, restException+
		`The termination mode "stop" has been removed. For an ungraceful shutdown, please use "cancel" instead. For a graceful shutdown, please use "jobs/:jobId/stop" instead.`)
}

// cancelJob asks a job to end as CANCELED; doing so again changes nothing.
func (s *Server) cancelJob(r *request, id ident.JobID) (answer, error) {
	err := s.Jobs.Cancel(r.Context(), id)
	var terminated *dispatcher.TerminatedError
	switch {
	case errors.As(err, &terminated):
		return answer{}, fail(http.StatusConflict, restException+
			fmt.Sprintf("Job cancellation failed because the job has already reached another terminal state (%s).", terminated.State))
	case err != nil:
		return answer{}, err
	}
	return accepted()
}
