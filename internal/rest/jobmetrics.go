package rest

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/status"
)

// metricID is a metric in a list of those there are, and metricValue one that
// was asked for.
type metricID struct {
	ID string `json:"id"`
}

type metricValue struct {
	ID    string `json:"id"`
	Value string `json:"value"`
}

// A jobGauge is a metric of a job: its name, and its value at one moment.
type jobGauge struct {
	name  string
	value func(*execgraph.View, time.Time) int64
}

// jobGauges are what is known of a job as a whole. The times are those since
// the job entered the state it is in, in milliseconds; 0 in another state.
var jobGauges = []jobGauge{
	{"numRestarts", func(v *execgraph.View, _ time.Time) int64 { return int64(v.Restarts.All) }},
	{"initializingTime", timeIn(status.JobInitializing)},
	{"createdTime", timeIn(status.JobCreated)},
	{"runningTime", timeIn(status.JobRunning)},
	{"restartingTime", timeIn(status.JobRestarting)},
	{"failingTime", timeIn(status.JobFailing)},
	{"cancellingTime", timeIn(status.JobCancelling)},
}

func timeIn(s status.Job) func(*execgraph.View, time.Time) int64 {
	return func(v *execgraph.View, now time.Time) int64 {
		if v.State != s {
			return 0
		}
		return max(0, now.Sub(v.Since(s)).Milliseconds())
	}
}

// jobMetrics lists the metrics of a job, or gives the values of those that get
// names. A job that is not known has none, as in Flink.
func (s *Server) jobMetrics(r *request) (answer, error) {
	v, err := s.view(r)
	var missing *dispatcher.NotFoundError
	if errors.As(err, &missing) {
		return none(r)
	}
	if err != nil {
		return answer{}, err
	}
	if !r.query.Has("get") {
		ids := []metricID{}
		for _, g := range jobGauges {
			ids = append(ids, metricID{g.name})
		}
		return ok(ids)
	}
	values := []metricValue{}
	wanted := strings.Split(r.query.Get("get"), ",")
	for _, g := range jobGauges {
		if slices.Contains(wanted, g.name) {
			values = append(values, metricValue{g.name, strconv.FormatInt(g.value(&v, s.Now()), 10)})
		}
	}
	return ok(values)
}
