package rest

import (
	"fmt"
	"net/http"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/snapshot/record"
)

func (s *Server) rescaleRoutes() []route {
	return []route{
		get("/jobs/:jobid/resource-requirements", s.requirements),
		endpoint(http.MethodPut, "/jobs/:jobid/resource-requirements", "JobResourceRequirementsBody", s.require),
		get("/jobs/:jobid/rescales/config", s.rescaleConfig),
		get("/jobs/:jobid/rescales/overview", s.rescaleOverview),
		get("/jobs/:jobid/rescales/history", s.rescaleHistory),
		get("/jobs/:jobid/rescales/summary", s.rescaleSummary),
		get("/jobs/:jobid/rescales/details/:rescaleuuid", s.rescaleDetails),
		endpoint(http.MethodPatch, "/jobs/:jobid/rescaling", emptyBody, s.rescaling),
		get("/jobs/:jobid/rescaling/:triggerid", s.rescaling),
	}
}

// rescaling refuses the way to change the parallelism of a job that Flink gave up.
func (s *Server) rescaling(*request) (answer, error) {
	return answer{}, fail(http.StatusServiceUnavailable, restException+"Rescaling is temporarily disabled. See FLINK-12312.")
}

// rescales gives what is remembered of the rescales of a job whose parallelism
// follows the slots there are.
func (s *Server) rescales(r *request) (*execgraph.AdaptiveView, error) {
	v, err := s.view(r)
	if err == nil && v.Adaptive == nil {
		err = fail(http.StatusNotFound, fmt.Sprintf("org.apache.flink.runtime.rest.handler.job.rescales.RescalesUnavailableException: "+
			"The job `%s` has not enabled the `Adaptive` scheduler, or it has been enabled but the value of configuration option "+
			"`web.adaptive-scheduler.rescale-history.size` has not been set to greater than `0`.", v.Job))
	}
	return v.Adaptive, err
}

// rescaleSettings are how a job follows the slots there are.
type rescaleSettings struct {
	History              int     `json:"rescaleHistoryMax"`
	Mode                 *string `json:"schedulerExecutionMode"`
	Wait                 int64   `json:"submissionResourceWaitTimeoutInMillis"`
	Stabilization        int64   `json:"submissionResourceStabilizationTimeoutInMillis"`
	SlotIdle             int64   `json:"slotIdleTimeoutInMillis"`
	Cooldown             int64   `json:"executingCooldownTimeoutInMillis"`
	RescaleStabilization int64   `json:"executingResourceStabilizationTimeoutInMillis"`
	MaxDelay             int64   `json:"maximumDelayForTriggeringRescaleInMillis"`
	CheckpointFailures   int     `json:"rescaleOnFailedCheckpointCount"`
}

func (s *Server) rescaleConfig(r *request) (answer, error) {
	v, err := s.view(r)
	if err != nil {
		return answer{}, err
	}
	if v.Adaptive == nil {
		return answer{}, fail(http.StatusNotFound, restException+fmt.Sprintf("AdaptiveScheduler is not enabled for this job (%s).", v.Job))
	}
	o := v.Adaptive.Settings
	body := rescaleSettings{
		o.History, nil, o.WaitTimeout.Milliseconds(), o.Stabilization.Milliseconds(), o.SlotIdle.Milliseconds(), o.Cooldown.Milliseconds(),
		o.RescaleStabilization.Milliseconds(), o.MaxDelay.Milliseconds(), o.CheckpointFailures,
	}
	if o.Reactive {
		mode := "REACTIVE"
		body.Mode = &mode
	}
	return ok(body)
}

type rescaleCounts struct {
	Ignored    int `json:"ignored"`
	InProgress int `json:"inProgress"`
	Completed  int `json:"completed"`
	Failed     int `json:"failed"`
}

// countsOf counts the rescales; where none are kept, none are counted, as in Flink.
func countsOf(v *execgraph.AdaptiveView) rescaleCounts {
	if v.Settings.History <= 0 {
		return rescaleCounts{}
	}
	return rescaleCounts{v.Ignored, v.InProgress, v.Completed, v.Failed}
}

type latestRescales struct {
	Completed *rescaleBody `json:"completed"`
	Failed    *rescaleBody `json:"failed"`
	Ignored   *rescaleBody `json:"ignored"`
}

func (s *Server) rescaleOverview(r *request) (answer, error) {
	v, err := s.rescales(r)
	if err != nil {
		return answer{}, err
	}
	newest := func(state string) *rescaleBody {
		for i := range v.Rescales {
			if v.Rescales[i].State == state {
				body := rescaleOf(&v.Rescales[i], false)
				return &body
			}
		}
		return nil
	}
	return ok(struct {
		Counts rescaleCounts  `json:"rescalesCounts"`
		Latest latestRescales `json:"latest"`
	}{countsOf(v), latestRescales{newest(execgraph.RescaleCompleted), newest(execgraph.RescaleFailed), newest(execgraph.RescaleIgnored)}})
}

func (s *Server) rescaleHistory(r *request) (answer, error) {
	v, err := s.rescales(r)
	if err != nil {
		return answer{}, err
	}
	all := []rescaleBody{}
	for i := range v.Rescales {
		all = append(all, rescaleOf(&v.Rescales[i], false))
	}
	return ok(all)
}

func (s *Server) rescaleSummary(r *request) (answer, error) {
	v, err := s.rescales(r)
	if err != nil {
		return answer{}, err
	}
	took := func(state string) spread {
		var all []int64
		for i := range v.Rescales {
			if one := &v.Rescales[i]; one.State == state || state == "" && one.State != "" {
				all = append(all, one.End.Sub(one.Begin).Milliseconds())
			}
		}
		return spreadOf(record.DistributionOf(all))
	}
	return ok(struct {
		Counts    rescaleCounts `json:"rescalesCounts"`
		All       spread        `json:"rescalesDurationStatsInMillis"`
		Completed spread        `json:"completedRescalesDurationStatsInMillis"`
		Ignored   spread        `json:"ignoredRescalesDurationStatsInMillis"`
		Failed    spread        `json:"failedRescalesDurationStatsInMillis"`
	}{countsOf(v), took(""), took(execgraph.RescaleCompleted), took(execgraph.RescaleIgnored), took(execgraph.RescaleFailed)})
}

func (s *Server) rescaleDetails(r *request) (answer, error) {
	id, err := ident.Parse(r.params["rescaleuuid"])
	if err != nil {
		return answer{}, badParameter("path", "rescaleuuid", r.params["rescaleuuid"])
	}
	v, err := s.rescales(r)
	if err != nil {
		return answer{}, err
	}
	for i := range v.Rescales {
		if v.Rescales[i].ID == id {
			return ok(rescaleOf(&v.Rescales[i], true))
		}
	}
	return answer{}, fail(http.StatusNotFound, restException+fmt.Sprintf("Could not find rescale details of specified rescaleUuid %s.", id))
}

// rescaleBody is one rescale; in a list, without its vertices, slots and states.
type rescaleBody struct {
	ID           ident.ID                  `json:"rescaleUuid"`
	Requirements ident.ID                  `json:"resourceRequirementsUuid"`
	Attempt      int                       `json:"rescaleAttemptId"`
	Vertices     map[string]rescaledVertex `json:"vertices"`
	Slots        map[string]rescaledSlots  `json:"slots"`
	States       []schedulerSpan           `json:"schedulerStates"`
	Begin        int64                     `json:"startTimestampInMillis"`
	End          *int64                    `json:"endTimestampInMillis"`
	State        *string                   `json:"terminalState"`
	Cause        string                    `json:"triggerCause"`
	Reason       *string                   `json:"terminatedReason"`
	// What follows is ours: for how long the job did not run, and of that, how long
	// its tasks took to end, the new ones to be placed, and to run. It is there where
	// the job had run.
	Outage    *int64 `json:"outageInMillis,omitempty"`
	Ending    *int64 `json:"endingInMillis,omitempty"`
	Placing   *int64 `json:"placingInMillis,omitempty"`
	Deploying *int64 `json:"deployingInMillis,omitempty"`
}

type rescaledVertex struct {
	ID         ident.VertexID `json:"jobVertexId"`
	Name       string         `json:"jobVertexName"`
	Group      ident.ID       `json:"slotSharingGroupId"`
	GroupName  string         `json:"slotSharingGroupName"`
	Desired    int            `json:"desiredParallelism"`
	Sufficient int            `json:"sufficientParallelism"`
	Before     *int           `json:"preRescaleParallelism"`
	After      *int           `json:"postRescaleParallelism"`
}

// slotProfile is what a slot has; -1: any.
type slotProfile struct {
	CPU      double `json:"cpuCores"`
	Heap     int    `json:"taskHeapMemory"`
	OffHeap  int    `json:"taskOffHeapMemory"`
	Managed  int    `json:"managedMemory"`
	Network  int    `json:"networkMemory"`
	Extended empty  `json:"extendedResources"`
}

var anyProfile = slotProfile{CPU: -1, Heap: -1, OffHeap: -1, Managed: -1, Network: -1}

type rescaledSlots struct {
	Group      ident.ID     `json:"slotSharingGroupId"`
	GroupName  string       `json:"slotSharingGroupName"`
	Requested  slotProfile  `json:"requestResourceProfile"`
	Desired    int          `json:"desiredSlots"`
	Sufficient int          `json:"minimalRequiredSlots"`
	Before     *int         `json:"preRescaleSlots"`
	After      *int         `json:"postRescaleSlots"`
	Acquired   *slotProfile `json:"acquiredResourceProfile"`
}

type schedulerSpan struct {
	State     string  `json:"state"`
	Enter     int64   `json:"enterTimestampInMillis"`
	Leave     *int64  `json:"leaveTimestampInMillis"`
	Duration  *int64  `json:"durationInMillis"`
	Exception *string `json:"stringifiedException"`
}

func rescaleOf(r *execgraph.Rescale, whole bool) rescaleBody {
	b := rescaleBody{
		ID: r.ID, Requirements: r.Requirements, Attempt: r.Attempt, Vertices: map[string]rescaledVertex{}, Slots: map[string]rescaledSlots{},
		States: []schedulerSpan{}, Begin: millis(r.Begin), Cause: r.Cause,
	}
	if r.State != "" {
		end := millis(r.End)
		b.End, b.State, b.Reason = &end, &r.State, &r.Reason
	}
	if _, stopped := r.Outage(); stopped {
		b.Outage, b.Ending, b.Placing, b.Deploying = took(r.Stopped, r.End), took(r.Stopped, r.Ended), took(r.Ended, r.Placed), took(r.Placed, r.End)
	}
	if !whole {
		return b
	}
	for _, v := range r.Vertices {
		b.Vertices[v.ID.String()] = rescaledVertex{
			v.ID, v.Name, execgraph.GroupID(v.Group), v.Group, v.Desired, v.Sufficient, unless0(v.Before), unless0(v.After),
		}
	}
	for _, g := range r.Groups {
		id := execgraph.GroupID(g.Name)
		one := rescaledSlots{id, g.Name, anyProfile, g.Desired, g.Sufficient, unless0(g.Before), unless0(g.After), nil}
		if g.After > 0 {
			one.Acquired = &anyProfile
		}
		b.Slots[id.String()] = one
	}
	for _, span := range r.Spans {
		one := schedulerSpan{State: span.State, Enter: millis(span.Enter)}
		if !span.Leave.IsZero() {
			leave := millis(span.Leave)
			one.Leave, one.Duration = &leave, took(span.Enter, span.Leave)
		}
		b.States = append(b.States, one)
	}
	return b
}

// lastRescale is the newest time for which a job did not run: until its tasks had
// ended, until new ones were placed, and until those ran.
type lastRescale struct {
	Cause     string `json:"triggerCause"`
	Stopped   int64  `json:"stoppedTimestampInMillis"`
	Changes   string `json:"changes"` // of parallelisms; empty: none
	Outage    int64  `json:"outageInMillis"`
	Ending    int64  `json:"endingInMillis"`
	Placing   int64  `json:"placingInMillis"`
	Deploying int64  `json:"deployingInMillis"`
}

func lastRescaleOf(v *execgraph.View) *lastRescale {
	if v.Adaptive == nil || v.Adaptive.Last == nil {
		return nil
	}
	r := v.Adaptive.Last
	return &lastRescale{r.Cause, millis(r.Stopped), r.Changes(), *took(r.Stopped, r.End), *took(r.Stopped, r.Ended), *took(r.Ended, r.Placed), *took(r.Placed, r.End)}
}

func took(from, to time.Time) *int64 {
	ms := to.Sub(from).Milliseconds()
	return &ms
}

func unless0(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}
