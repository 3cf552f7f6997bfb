package master

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/reporters"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/jobmaster"
	"github.com/weirstream/weir/internal/metrics"
	"github.com/weirstream/weir/internal/metrics/process"
	"github.com/weirstream/weir/internal/status"
)

// measuring is what measures the process and tells it.
type measuring struct {
	sampler   *process.Sampler
	reporters *reporters.Set
}

// openMetrics begins to measure.
func (m *Master) openMetrics() {
	m.measuring.sampler = process.Start()
	m.measuring.reporters = reporters.Open(m.config, config.JobManagerBindHost.In(m.config), m.collect, m.log)
}

func (m *Master) closeMetrics() error {
	err := m.measuring.reporters.Close()
	m.measuring.sampler.Close()
	return err
}

// Process gives the newest figures of the process, never to be written.
func (m *Master) Process() *status.ProcessFigures {
	f := *m.measuring.sampler.Latest()
	f.HeapMax, f.ProgramMax = int64(m.memory.HeapLimit()), int64(m.memory.Metaspace)
	f.NonHeapMax = int64(m.memory.Metaspace + m.memory.Overhead)
	return &f
}

// PrometheusAddresses are where Prometheus reads, host:port.
func (m *Master) PrometheusAddresses() []string { return m.measuring.reporters.Addresses() }

// ofJob names the figures of a job and its coordinators.
func ofJob(v *execgraph.View, labels []metrics.Label, now time.Time) []metrics.Group {
	of := slices.Concat(labels, []metrics.Label{{Name: "job_id", Value: v.Job.String()}, {Name: "job_name", Value: v.Name}})
	groups := []metrics.Group{{Scope: metrics.JobManagerJob, Labels: of, Metrics: jobmaster.Metrics(v, now)}}
	for i := range v.Coordinators {
		c := &v.Coordinators[i]
		groups = append(groups, metrics.Group{Scope: metrics.JobManagerJobOperator, Metrics: jobmaster.CoordinatorMetrics(c),
			Labels: slices.Concat(of, []metrics.Label{{Name: "task_id", Value: c.Vertex.String()}, {Name: "task_name", Value: c.VertexName},
				{Name: "operator_id", Value: c.Operator.String()}, {Name: "operator_name", Value: c.VertexName}})})
	}
	return groups
}

// collect gathers what the process knows of itself, the cluster and its jobs.
func (m *Master) collect(ctx context.Context) ([]metrics.Group, error) {
	overview, err := m.Overview(ctx)
	if err != nil {
		return nil, err
	}
	jobs, err := m.dispatcher.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(m.RPCAddress())
	if err != nil {
		return nil, err
	}
	labels := []metrics.Label{{Name: "host", Value: host}}
	running := int64(0)
	var groups []metrics.Group
	now := m.loop.Now()
	for i := range jobs {
		v := &jobs[i]
		if v.State.Terminal() {
			continue // Flink forgets the metrics of a job when it ends
		}
		running++
		groups = append(groups, ofJob(v, labels, now)...)
	}
	all := append(overview.Metrics(), metrics.Metric{Name: "numRunningJobs", Value: metrics.Whole(running)})
	return append(groups, metrics.Group{Scope: metrics.JobManager, Labels: labels, Metrics: append(all, metrics.OfProcess(m.Process())...)}), nil
}
