package rest

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/metrics"
	"github.com/weirstream/weir/internal/resourcemanager"
	"github.com/weirstream/weir/internal/status"
)

// metricInfo is one metric in an answer, without its value where only names
// were asked for.
type metricInfo struct {
	ID    string  `json:"id"`
	Value *string `json:"value,omitempty"`
}

// metricList answers with the names of the metrics, or with the values of those that
// "get" names and that are there.
func metricList(r *request, all []metrics.Metric) (answer, error) {
	flat := metrics.Flat(all)
	answers := []metricInfo{}
	wanted := r.list("get")
	if len(wanted) == 0 {
		for _, name := range namesOf(flat) {
			answers = append(answers, metricInfo{ID: name})
		}
		return ok(answers)
	}
	values := map[string]metrics.Value{}
	for _, m := range flat {
		values[m.Name] = m.Value
	}
	for _, name := range wanted {
		if v, known := values[name]; known {
			text := v.String()
			answers = append(answers, metricInfo{name, &text})
		}
	}
	return ok(answers)
}

// namesOf lists each name once, in order.
func namesOf(all []metrics.Metric) []string {
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// list reads a query parameter that holds names with commas between them.
func (r *request) list(name string) []string {
	var all []string
	for _, text := range r.query[name] {
		for part := range strings.SplitSeq(text, ",") {
			if part != "" {
				all = append(all, part)
			}
		}
	}
	return all
}

// jobManagerMetrics are those of this process and of the cluster.
func (s *Server) jobManagerMetrics(r *request) (answer, error) {
	managers, err := s.TaskManagers.TaskManagers(r.Context())
	if err != nil {
		return answer{}, err
	}
	jobs, err := s.Jobs.Jobs(r.Context())
	if err != nil {
		return answer{}, err
	}
	o := resourcemanager.Overview{TaskManagers: len(managers)}
	for i := range managers {
		o.Slots += managers[i].Slots
		o.Free += managers[i].Free
	}
	all := append(o.Metrics(), metrics.Metric{Name: "numRunningJobs", Value: metrics.Whole(int64(runningJobs(jobs)))})
	if s.Process != nil {
		all = append(all, metrics.OfProcess(s.Process())...)
	}
	return metricList(r, all)
}

// runningJobs counts the jobs that have not ended.
func runningJobs(jobs []execgraph.View) int {
	running := 0
	for i := range jobs {
		if !jobs[i].State.Terminal() {
			running++
		}
	}
	return running
}

// taskManagerMetrics are those of one TaskManager; of one that is unknown there
// are none.
func (s *Server) taskManagerMetrics(r *request) (answer, error) {
	managers, err := s.TaskManagers.TaskManagers(r.Context())
	if err != nil {
		return answer{}, err
	}
	for i := range managers {
		if managers[i].ID == ident.ResourceID(r.params["taskmanagerid"]) {
			return metricList(r, ofTaskManager(&managers[i]))
		}
	}
	return metricList(r, nil)
}

func ofTaskManager(v *resourcemanager.View) []metrics.Metric {
	if v.Process == nil {
		return nil
	}
	return metrics.OfProcess(v.Process)
}

// viewed asks for the job the path names; nil: there is none, which is no error
// where metrics are asked for.
func (s *Server) viewed(r *request) (*execgraph.View, error) {
	v, err := s.view(r)
	var missing *dispatcher.NotFoundError
	switch {
	case errors.As(err, &missing):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &v, nil
}

func (s *Server) jobMetrics(r *request) (answer, error) {
	v, err := s.viewed(r)
	if err != nil || v == nil {
		return orNone(r, err)
	}
	return metricList(r, jobmaster.Metrics(v, s.Now()))
}

// orNone answers with an error, or that there is no metric.
func orNone(r *request, err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	return metricList(r, nil)
}

// viewedVertex finds the vertex the path names; nil: there is none.
func (s *Server) viewedVertex(r *request) (*execgraph.VertexView, error) {
	id, err := r.vertexID()
	if err != nil {
		return nil, err
	}
	v, err := s.viewed(r)
	if err != nil || v == nil {
		return nil, err
	}
	return v.Vertex(id), nil
}

// vertexMetrics are those of all subtasks, whose numbers stand before the names.
func (s *Server) vertexMetrics(r *request) (answer, error) {
	v, err := s.viewedVertex(r)
	if err != nil || v == nil {
		return orNone(r, err)
	}
	var all []metrics.Metric
	for i := range v.Subtasks {
		prefix := strconv.Itoa(i) + "."
		for _, m := range ofSubtask(v, i) {
			all = append(all, metrics.Metric{Name: prefix + m.Name, Value: m.Value})
		}
	}
	return metricList(r, all)
}

// ofSubtask are the metrics of the current attempt of a subtask, while it runs.
func ofSubtask(v *execgraph.VertexView, i int) []metrics.Metric {
	if f := v.Subtasks[i].Metrics.Figures; f != nil {
		return metrics.OfTaskAndOperators(f)
	}
	return nil
}

func (s *Server) subtaskMetrics(r *request) (answer, error) {
	subtask, err := r.number("subtaskindex")
	if err != nil {
		return answer{}, err
	}
	v, err := s.viewedVertex(r)
	if err != nil || v == nil || subtask >= len(v.Subtasks) {
		return orNone(r, err)
	}
	return metricList(r, ofSubtask(v, subtask))
}

// operatorMetrics are those of the coordinators of a vertex. As in Flink they
// bear the name of the vertex.
func (s *Server) operatorMetrics(r *request) (answer, error) {
	id, err := r.vertexID()
	if err != nil {
		return answer{}, err
	}
	v, err := s.viewed(r)
	if err != nil || v == nil {
		return orNone(r, err)
	}
	var all []metrics.Metric
	for i := range v.Coordinators {
		if c := &v.Coordinators[i]; c.Vertex == id {
			for _, m := range jobmaster.CoordinatorMetrics(c) {
				all = append(all, metrics.Metric{Name: metrics.OperatorName(c.VertexName) + "." + m.Name, Value: m.Value})
			}
		}
	}
	return metricList(r, all)
}

// watermarks lists the watermarks of the vertex's subtasks that have input.
func (s *Server) watermarks(r *request) (answer, error) {
	v, err := s.vertexOf(r, noVertex)
	if err != nil {
		return answer{}, err
	}
	answers := []metricInfo{}
	for i := range v.Subtasks {
		if f := v.Subtasks[i].Metrics.Figures; f != nil && f.HasInput {
			text := strconv.FormatInt(f.InputWatermark, 10)
			answers = append(answers, metricInfo{strconv.Itoa(i) + ".currentInputWatermark", &text})
		}
	}
	return ok(answers)
}

// subtaskPressure is how much a subtask is held up by those it writes to.
type subtaskPressure struct {
	Subtask    int    `json:"subtask"`
	Attempt    int    `json:"attempt-number"`
	Level      string `json:"backpressureLevel"`
	Ratio      double `json:"ratio"`
	Idle       double `json:"idleRatio"`
	Busy       double `json:"busyRatio"`
	LevelAgain string `json:"backpressure-level"` // as Flink has it, twice
}

func pressureOf(id ident.AttemptID, f *status.TaskFigures) subtaskPressure {
	// Flink divides the whole numbers of the metrics.
	ratio := double(int64(f.Blocked.MillisPerSecond)) / 1000
	level := pressureLevel(ratio)
	return subtaskPressure{id.Subtask, id.Attempt, level, ratio, double(int64(f.Idle.MillisPerSecond)) / 1000, double(f.Busy.MillisPerSecond) / 1000, level}
}

// pressureLevel puts a ratio into Flink's words.
func pressureLevel(ratio double) string {
	switch {
	case ratio <= 0.10:
		return "ok"
	case ratio <= 0.5:
		return "low"
	}
	return "high"
}

// backPressure says how much the subtasks of a vertex are held up; "deprecated"
// is Flink's word for not knowing.
func (s *Server) backPressure(r *request) (answer, error) {
	v, err := s.viewedVertex(r)
	if err != nil {
		return answer{}, err
	}
	subtasks, worst := []subtaskPressure{}, double(0)
	for i := 0; v != nil && i < len(v.Subtasks); i++ {
		if f := v.Subtasks[i].Metrics.Figures; f != nil {
			subtasks = append(subtasks, pressureOf(v.Subtasks[i].ID, f))
			worst = max(worst, subtasks[len(subtasks)-1].Ratio)
		}
	}
	if len(subtasks) == 0 {
		return ok(struct {
			Status string `json:"status"`
		}{"deprecated"})
	}
	return ok(struct {
		Status     string            `json:"status"`
		Level      string            `json:"backpressureLevel"`
		End        int64             `json:"end-timestamp"`
		Subtasks   []subtaskPressure `json:"subtasks"`
		LevelAgain string            `json:"backpressure-level"`
	}{"ok", pressureLevel(worst), millis(s.Now()), subtasks, pressureLevel(worst)})
}

// flameGraph says, as Flink does, that flame graphs are disabled.
func (s *Server) flameGraph(r *request) (answer, error) {
	if _, err := s.viewedVertex(r); err != nil {
		return answer{}, err
	}
	return ok(struct {
		End int64 `json:"endTimestamp"`
	}{-2})
}
