package jobmaster

import (
	"testing"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/gateway"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// values gives the metrics of a job as REST writes them.
func values(v *execgraph.View, now time.Time) map[string]string {
	all := map[string]string{}
	for _, m := range Metrics(v, now) {
		all[m.Name] = m.Value.String()
	}
	return all
}

func TestMetricsOfAJob(t *testing.T) {
	begun := time.UnixMilli(1_000_000)
	at := func(millis int) time.Time { return begun.Add(time.Duration(millis) * time.Millisecond) }
	subtask := func(attempt int, state status.Execution, since int) execgraph.SubtaskView {
		s := execgraph.SubtaskView{AttemptView: execgraph.AttemptView{ID: ident.AttemptID{Attempt: attempt}, State: state}}
		s.Stamps[status.Deploying], s.Stamps[state] = at(since-5), at(since)
		return s
	}
	view := func(state status.Job, subtasks ...execgraph.SubtaskView) *execgraph.View {
		v := &execgraph.View{State: state, Start: begun, Vertices: []*execgraph.VertexView{{Subtasks: subtasks}}}
		v.Stamps[status.JobInitializing], v.Stamps[status.JobCreated], v.Stamps[status.JobRunning] = begun, at(1), at(2)
		v.Stamps[state] = at(max(2, 100*int(state)))
		for i := range subtasks {
			v.Vertices[0].Tasks[subtasks[i].State]++
		}
		return v
	}
	running := view(status.JobRunning, subtask(0, status.Running, 300), subtask(2, status.Finished, 400))
	running.Vertices[0].Subtasks[1].Stamps[status.Running], running.Restarts.All = at(350), 3
	for _, c := range []struct {
		what string
		v    *execgraph.View
		want map[string]string
	}{
		{"running", running, map[string]string{"uptime": "800", "downtime": "0", "runningTime": "800", "restartingTime": "0",
			"allSubTasksRunningOrFinishedTime": "650", "deployingTime": "0", "numRestarts": "3", "createdTime": "0"}},
		{"deploying", view(status.JobRunning, subtask(0, status.Running, 300), subtask(0, status.Deploying, 400)),
			map[string]string{"allSubTasksRunningOrFinishedTime": "0", "deployingTime": "600", "numRestarts": "0"}},
		{"restarting", view(status.JobRestarting, subtask(0, status.Canceled, 300)),
			map[string]string{"uptime": "0", "downtime": "200", "runningTime": "0", "restartingTime": "200"}},
		{"ended", view(status.JobFinished, subtask(0, status.Finished, 300)),
			map[string]string{"uptime": "-1", "downtime": "-1", "runningTime": "0", "allSubTasksRunningOrFinishedTime": "0"}},
	} {
		got := values(c.v, at(1000))
		for name, want := range c.want {
			if got[name] != want {
				t.Errorf("%s: %s is %s, want %s", c.what, name, got[name], want)
			}
		}
		if got["numberOfCompletedCheckpoints"] != "0" || got["lastCheckpointSize"] != "-1" || got["lastCheckpointExternalPath"] != "n/a" {
			t.Errorf("%s: checkpoints %v", c.what, got)
		}
	}
}

// What a task tells of itself is in the view while it runs.
func TestFiguresAreKeptWhileATaskRuns(t *testing.T) {
	w, _, te1, _, m, _ := running(t)
	gateway.ReportTaskMetrics.Send(te1.system, w, te1.master, te1.fence(), &pb.ReportTaskMetricsRequest{Metrics: []*pb.TaskMetrics{
		{Attempt: te1.running[0], BusyMillis: 3, Figures: &pb.TaskFigures{OutQueued: 4}}}})
	w.pass(time.Second)
	figures := func() (all []*status.TaskFigures) {
		v := m.View()
		for _, vertex := range v.Vertices {
			for i := range vertex.Subtasks {
				if f := vertex.Subtasks[i].Metrics.Figures; f != nil {
					all = append(all, f)
				}
			}
		}
		return all
	}
	if all := figures(); len(all) != 1 || all[0].OutQueued != 4 {
		t.Errorf("figures %+v", all)
	}
	gateway.UpdateTaskExecutionState.Send(te1.system, w, te1.master, te1.fence(), &pb.UpdateTaskExecutionStateRequest{Attempt: te1.running[0], State: "FINISHED"})
	w.pass(time.Second)
	if all := figures(); len(all) != 0 {
		t.Errorf("an ended task has figures: %+v", all[0])
	}
	w.quiet(t, m)
}
