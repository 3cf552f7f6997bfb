// Package status holds the states of jobs and of execution attempts, and for
// each the one table of legal transitions.
//
// It promises that every transition the engine makes is a row of these tables.
// It never decides anything: it only says what may follow what.
package status

// Job is the state of a job.
type Job uint8

// The job states, named as Flink names them.
const (
	JobInitializing Job = iota
	JobCreated
	JobRunning
	JobFailing
	JobFailed
	JobCancelling
	JobCanceled
	JobFinished
	JobRestarting
	JobSuspended
	JobReconciling
	jobStates
)

var jobNames = [jobStates]string{
	"INITIALIZING", "CREATED", "RUNNING", "FAILING", "FAILED", "CANCELLING", "CANCELED",
	"FINISHED", "RESTARTING", "SUSPENDED", "RECONCILING",
}

func (s Job) String() string { return jobNames[s] }

// Jobs lists every job state in the order REST answers count them.
func Jobs() []Job {
	all := make([]Job, jobStates)
	for i := range all {
		all[i] = Job(i)
	}
	return all
}

// ParseJob reads the name of a job state.
func ParseJob(name string) (Job, bool) {
	for i, n := range jobNames {
		if n == name {
			return Job(i), true
		}
	}
	return 0, false
}

// jobTransitions is the table: from each state, the states that may follow.
var jobTransitions = map[Job][]Job{
	JobInitializing: {JobCreated, JobFailed, JobSuspended},
	JobCreated:      {JobRunning, JobFailing, JobCancelling, JobSuspended},
	JobRunning:      {JobRestarting, JobFailing, JobCancelling, JobFinished, JobSuspended},
	JobRestarting:   {JobRunning, JobCreated, JobFailing, JobCancelling, JobSuspended},
	JobFailing:      {JobFailed, JobCancelling, JobSuspended},
	JobCancelling:   {JobCanceled, JobSuspended},
	JobReconciling:  {JobRunning, JobFailing, JobSuspended},
}

// Terminal reports whether nothing follows the state at this master.
func (s Job) Terminal() bool { return s == JobSuspended || s.GloballyTerminal() }

// GloballyTerminal reports whether the job has ended for every master.
func (s Job) GloballyTerminal() bool {
	return s == JobFailed || s == JobCanceled || s == JobFinished
}

// CanBecome reports whether the table allows the step from s to next.
func (s Job) CanBecome(next Job) bool {
	for _, n := range jobTransitions[s] {
		if n == next {
			return true
		}
	}
	return false
}
