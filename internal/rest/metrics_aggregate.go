package rest

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/metrics"
)

// aggregates are the ways to put the values of several things together.
var aggregates = []string{"min", "max", "avg", "sum", "skew"}

// combined is one metric of several things; what was not asked for is left out.
type combined struct {
	ID      string  `json:"id"`
	Min     *double `json:"min,omitempty"`
	Max     *double `json:"max,omitempty"`
	Average *double `json:"avg,omitempty"`
	Sum     *double `json:"sum,omitempty"`
	Skew    *double `json:"skew,omitempty"`
}

// aggregations reads which are wanted; none named: all.
func (r *request) aggregations() ([]string, error) {
	wanted := r.list("agg")
	for i, name := range wanted {
		if wanted[i] = strings.ToLower(name); !slices.Contains(aggregates, wanted[i]) {
			return nil, badParameter("query", "agg", name)
		}
	}
	if len(wanted) == 0 {
		return aggregates, nil
	}
	return wanted, nil
}

// aggregateOf answers with the names of the metrics that some of the things have,
// or with values put together. As in Flink, a name that none of them has, or
// whose value is no number, makes the whole answer empty.
func aggregateOf(r *request, aggregations []string, things [][]metrics.Metric) (answer, error) {
	values, all := map[string][]metrics.Value{}, []metrics.Metric{}
	for _, thing := range things {
		flat := metrics.Flat(thing)
		all = append(all, flat...)
		for _, m := range flat {
			values[m.Name] = append(values[m.Name], m.Value)
		}
	}
	answers := []combined{}
	wanted := r.list("get")
	if len(wanted) == 0 {
		for _, name := range namesOf(all) {
			answers = append(answers, combined{ID: name})
		}
		return ok(answers)
	}
	for _, name := range wanted {
		numbers := make([]float64, 0, len(values[name]))
		for _, v := range values[name] {
			if f, isNumber := v.Float(); isNumber {
				numbers = append(numbers, f)
			}
		}
		if len(numbers) == 0 || len(numbers) < len(values[name]) {
			return ok([]combined{})
		}
		answers = append(answers, combine(name, numbers, aggregations))
	}
	return ok(answers)
}

// combine puts at least one number together.
func combine(name string, numbers []float64, aggregations []string) combined {
	low, high, sum := numbers[0], numbers[0], 0.0
	for _, f := range numbers {
		low, high, sum = math.Min(low, f), math.Max(high, f), sum+f
	}
	average := sum / float64(len(numbers))
	c := combined{ID: name}
	for _, a := range aggregations {
		switch a {
		case "min":
			c.Min = new(double(low))
		case "max":
			c.Max = new(double(high))
		case "avg":
			c.Average = new(double(average))
		case "sum":
			c.Sum = new(double(sum))
		case "skew":
			c.Skew = new(double(skew(numbers, average)))
		}
	}
	return c
}

// skew is the average distance from the average, in percent of it, at most 100.
func skew(numbers []float64, average float64) float64 {
	if average == 0 {
		return 0
	}
	distance := 0.0
	for _, f := range numbers {
		distance += math.Abs(average - f)
	}
	return math.Min(100*(distance/float64(len(numbers))/average), 100)
}

// jobsMetrics puts the metrics of jobs together: of those that "jobs" names, or
// of all.
func (s *Server) jobsMetrics(r *request) (answer, error) {
	aggregations, err := r.aggregations()
	if err != nil {
		return answer{}, err
	}
	var chosen []ident.JobID
	for _, text := range r.list("jobs") {
		id, err := ident.Parse(text)
		if err != nil {
			return answer{}, badParameter("query", "jobs", text)
		}
		chosen = append(chosen, ident.JobID{ID: id})
	}
	jobs, err := s.Jobs.Jobs(r.Context())
	if err != nil {
		return answer{}, err
	}
	var things [][]metrics.Metric
	for i := range jobs {
		if len(chosen) == 0 || slices.Contains(chosen, jobs[i].Job) {
			things = append(things, jobmaster.Metrics(&jobs[i], s.Now()))
		}
	}
	return aggregateOf(r, aggregations, things)
}

// taskManagersMetrics puts the metrics of TaskManagers together: of those that
// "taskmanagers" names, or of all.
func (s *Server) taskManagersMetrics(r *request) (answer, error) {
	aggregations, err := r.aggregations()
	if err != nil {
		return answer{}, err
	}
	managers, err := s.TaskManagers.TaskManagers(r.Context())
	if err != nil {
		return answer{}, err
	}
	chosen := r.list("taskmanagers")
	var things [][]metrics.Metric
	for i := range managers {
		if len(chosen) == 0 || slices.Contains(chosen, string(managers[i].ID)) {
			things = append(things, ofTaskManager(&managers[i]))
		}
	}
	return aggregateOf(r, aggregations, things)
}

// subtasksMetrics puts the metrics of a vertex's subtasks together: of those
// that "subtasks" names, or of all.
func (s *Server) subtasksMetrics(r *request) (answer, error) {
	aggregations, err := r.aggregations()
	if err != nil {
		return answer{}, err
	}
	ranges, valid := subtaskRanges(r.list("subtasks"))
	v, err := s.viewedVertex(r)
	if err != nil {
		return answer{}, err
	}
	var things [][]metrics.Metric
	for i := 0; v != nil && valid && i < len(v.Subtasks); i++ {
		if len(ranges) == 0 || slices.ContainsFunc(ranges, func(within [2]int) bool { return within[0] <= i && i <= within[1] }) {
			things = append(things, ofSubtask(v, i))
		}
	}
	return aggregateOf(r, aggregations, things)
}

// subtaskRanges reads numbers and ranges of numbers, both ends included. Flink
// answers a list that is none of these with no metrics, and no error.
func subtaskRanges(parts []string) (all [][2]int, valid bool) {
	for _, text := range parts {
		first, last, isRange := strings.Cut(text, "-")
		if !isRange {
			last = first
		}
		low, err := strconv.ParseUint(strings.TrimSpace(first), 10, 31)
		high, err2 := strconv.ParseUint(strings.TrimSpace(last), 10, 31)
		if err != nil || err2 != nil || high < low {
			return nil, false
		}
		all = append(all, [2]int{int(low), int(high)})
	}
	return all, true
}
