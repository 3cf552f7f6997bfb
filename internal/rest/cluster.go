package rest

import (
	"cmp"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/status"
)

func (s *Server) clusterRoutes() []route {
	return []route{
		get("/config", s.dashboard),
		get("/overview", s.overview),
		get("/jobmanager/config", s.configuration),
		get("/jobs/:jobid/jobmanager/config", s.configuration),
		get("/jobmanager/environment", s.environment),
		get("/jobs/:jobid/jobmanager/environment", s.environment),
		get("/jobs/:jobid/jobmanager/log-url", s.logURL),
		get("/jobs/:jobid/taskmanagers/:taskmanagerid/log-url", s.taskManagerLogURL),
		get("/jobmanager/thread-dump", s.goroutines),
		get("/jobmanager/log", s.jobManagerLog),
		get("/jobmanager/stdout", s.jobManagerStdout),
		get("/jobmanager/logs", s.jobManagerLogs),
		get("/jobmanager/logs/:filename", s.jobManagerLogFile),
		get("/jobmanager/metrics", s.jobManagerMetrics),
		get("/datasets", s.dataSets),
	}
}

// submitEnabled says whether programs can be uploaded and run.
func (s *Server) submitEnabled() bool {
	return s.Programs != nil && config.WebSubmitEnable.In(s.Config)
}

func (s *Server) commit() string {
	c := cmp.Or(s.Commit, "unknown")
	return c[:min(len(c), 7)]
}

// features are what the web interface may offer.
type features struct {
	Submit  bool `json:"web-submit"`
	Cancel  bool `json:"web-cancel"`
	Rescale bool `json:"web-rescale"`
	History bool `json:"web-history"`
}

// dashboardInfo is what the web interface is told about this server.
type dashboardInfo struct {
	Refresh  int64    `json:"refresh-interval"`
	Zone     string   `json:"timezone-name"`
	Offset   int64    `json:"timezone-offset"`
	Version  string   `json:"flink-version"`
	Revision string   `json:"flink-revision"`
	Features features `json:"features"`
	Weir     string   `json:"weir-version"`
}

// dashboard is what the web interface asks first.
func (s *Server) dashboard(*request) (answer, error) {
	zone, offset := s.Now().Zone()
	built := "unknown"
	if !s.Built.IsZero() {
		built = s.Built.Format(time.RFC3339)
	}
	return ok(dashboardInfo{
		config.WebRefreshInterval.In(s.Config).Milliseconds(), zone, int64(offset) * 1000, FlinkVersion, s.commit() + " @ " + built,
		features{Submit: s.submitEnabled(), Cancel: config.WebCancelEnable.In(s.Config), Rescale: s.rescaleEnabled()}, s.Version,
	})
}

// rescaleEnabled says whether the web interface may offer to change the parallelism
// of jobs: where it follows the slots, and a person may say how far.
func (s *Server) rescaleEnabled() bool {
	return config.WebRescaleEnable.In(s.Config) && config.JobManagerScheduler.In(s.Config) == "Adaptive" && config.SchedulerMode.In(s.Config) != "REACTIVE"
}

// clusterOverview counts what there is.
type clusterOverview struct {
	TaskManagers int    `json:"taskmanagers"`
	Slots        int    `json:"slots-total"`
	Free         int    `json:"slots-available"`
	Running      int    `json:"jobs-running"`
	Finished     int    `json:"jobs-finished"`
	Cancelled    int    `json:"jobs-cancelled"`
	Failed       int    `json:"jobs-failed"`
	Version      string `json:"flink-version"`
	Commit       string `json:"flink-commit"`
	Weir         string `json:"weir-version"`
}

// count counts one job.
func (o *clusterOverview) count(s status.Job) {
	switch s {
	case status.JobFinished:
		o.Finished++
	case status.JobCanceled:
		o.Cancelled++
	case status.JobFailed:
		o.Failed++
	default:
		o.Running++
	}
}

// overview counts TaskManagers, slots and jobs.
func (s *Server) overview(r *request) (answer, error) {
	managers, err := s.TaskManagers.TaskManagers(r.Context())
	if err != nil {
		return answer{}, err
	}
	jobs, err := s.Jobs.Jobs(r.Context())
	if err != nil {
		return answer{}, err
	}
	o := clusterOverview{Version: FlinkVersion, Commit: s.commit(), Weir: s.Version}
	o.TaskManagers = len(managers)
	for i := range managers {
		o.Slots += managers[i].Slots
		o.Free += managers[i].Free
	}
	for i := range jobs {
		o.count(jobs[i].State)
	}
	return ok(o)
}

// configuration is what the JobManager was told, secrets hidden.
func (s *Server) configuration(*request) (answer, error) {
	type entry struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	entries := []entry{}
	for key, value := range s.Config.Entries() {
		entries = append(entries, entry{key, hide(key, value)})
	}
	return ok(entries)
}

// hide gives the value of a setting as it may be shown.
func hide(key, value string) string {
	if config.Secret(key) {
		return "******"
	}
	return value
}

// environment describes the process in the words Flink has for a JVM.
func (s *Server) environment(*request) (answer, error) {
	type machine struct {
		Version string   `json:"version"`
		Arch    string   `json:"arch"`
		Options []string `json:"options"`
	}
	return ok(struct {
		JVM       machine  `json:"jvm"`
		ClassPath []string `json:"classpath"`
	}{JVM: machine{Version: "Weir " + s.Version + " (" + runtime.Version() + ")", Arch: runtime.GOARCH}})
}

// logLink is where the web interface shows a log.
type logLink struct {
	URL string `json:"url"`
}

func (s *Server) logURL(r *request) (answer, error) {
	return ok(logLink{"http://" + hostOf(r.Request) + "/#/job-manager/logs"})
}

func (s *Server) taskManagerLogURL(r *request) (answer, error) {
	return ok(logLink{"http://" + hostOf(r.Request) + "/#/task-manager/" + url.PathEscape(r.params["taskmanagerid"]) + "/logs"})
}

// maxStacks bounds the text of all stacks, in bytes.
const maxStacks = 8 << 20

// goroutines gives the stacks of the JobManager's goroutines, as Flink gives
// those of threads.
func (s *Server) goroutines(*request) (answer, error) {
	type thread struct {
		Name string `json:"threadName"`
		Info string `json:"stringifiedThreadInfo"`
	}
	text := make([]byte, 64<<10)
	n := runtime.Stack(text, true)
	for n == len(text) && n < maxStacks {
		text = make([]byte, 2*len(text))
		n = runtime.Stack(text, true)
	}
	threads := []thread{}
	for stack := range strings.SplitSeq(string(text[:n]), "\n\n") {
		name, _, _ := strings.Cut(stack, " [")
		threads = append(threads, thread{name, stack})
	}
	return ok(struct {
		Threads []thread `json:"threadInfos"`
	}{threads})
}

// dataSets lists the results kept between jobs; this version keeps none.
func (s *Server) dataSets(*request) (answer, error) {
	return ok(struct {
		DataSets []empty `json:"dataSets"`
	}{})
}
