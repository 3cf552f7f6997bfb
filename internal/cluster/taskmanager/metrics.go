//go:build unix

package taskmanager

import (
	"context"
	"net"
	"strconv"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/cluster/reporters"
	"github.com/weirstream/weir/internal/metrics"
	"github.com/weirstream/weir/internal/metrics/process"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/taskexecutor"
)

// openSampler begins to measure the process.
func (t *TaskManager) openSampler() {
	t.sampler = process.Start()
	t.undo = append(t.undo, func() error { t.sampler.Close(); return nil })
}

// openReporters lets others read the metrics.
func (t *TaskManager) openReporters() {
	t.reporters = reporters.Open(t.config, config.TaskManagerBindHost.In(t.config), t.collect, t.log)
	t.undo = append(t.undo, t.reporters.Close)
}

// process gives the newest figures of this process, with the limits of the
// TaskManager. What managed and network memory hold lies in Go's heap too.
func (t *TaskManager) process() *status.ProcessFigures {
	f, m := *t.sampler.Latest(), &t.settings.memory
	f.HeapMax = int64(m.FrameworkHeap + m.TaskHeap + m.Managed + m.Network)
	f.NonHeapMax, f.ProgramMax = int64(m.Metaspace+m.Overhead), int64(m.Metaspace)
	f.BuffersTotal, f.BufferSize = int64(t.settings.buffers()), int64(t.settings.bufferSize)
	return &f
}

// PrometheusAddresses are where Prometheus reads, host:port.
func (t *TaskManager) PrometheusAddresses() []string { return t.reporters.Addresses() }

// collect gathers what the TaskExecutor knows of this process and its workers.
func (t *TaskManager) collect(ctx context.Context) ([]metrics.Group, error) {
	figures, err := actor.Query(ctx, t.loop, t.executor.Figures)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(t.system.Self())
	if err != nil {
		return nil, err
	}
	return groupsOf(&figures, []metrics.Label{{Name: "host", Value: host}, {Name: "tm_id", Value: string(t.id)}}), nil
}

// groupsOf names the figures of a TaskManager, its tasks and their operators.
func groupsOf(f *taskexecutor.Figures, labels []metrics.Label) []metrics.Group {
	var groups []metrics.Group
	if f.Process != nil {
		groups = append(groups, metrics.Group{Scope: metrics.TaskManager, Labels: labels, Metrics: metrics.OfProcess(f.Process)})
	}
	for i := range f.Tasks {
		task := &f.Tasks[i]
		of := append(append([]metrics.Label{}, labels...),
			metrics.Label{Name: "job_id", Value: task.Job.String()}, metrics.Label{Name: "job_name", Value: task.JobName},
			metrics.Label{Name: "task_id", Value: task.Attempt.Vertex.String()}, metrics.Label{Name: "task_name", Value: task.Vertex},
			metrics.Label{Name: "task_attempt_id", Value: task.Attempt.String()},
			metrics.Label{Name: "task_attempt_num", Value: strconv.Itoa(task.Attempt.Attempt)},
			metrics.Label{Name: "subtask_index", Value: strconv.Itoa(task.Attempt.Subtask)})
		of = of[:len(of):len(of)] // so that each operator has its own copy
		groups = append(groups, metrics.Group{Scope: metrics.Task, Labels: of, Metrics: metrics.OfTask(task.TaskFigures)})
		for k := range task.TaskFigures.Operators {
			o := &task.TaskFigures.Operators[k]
			groups = append(groups, metrics.Group{Scope: metrics.Operator, Metrics: metrics.OfOperator(o),
				Labels: append(of, metrics.Label{Name: "operator_id", Value: o.ID}, metrics.Label{Name: "operator_name", Value: o.Name})})
		}
	}
	return groups
}
