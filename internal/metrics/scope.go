package metrics

// A Group is the metrics of one thing, with what tells it from others of its
// kind.
type Group struct {
	Scope   Scope
	Labels  []Label
	Metrics []Metric
}

// A Label is one variable of a scope: Flink's <tm_id> without the brackets.
type Label struct{ Name, Value string }

// A Scope is the kind of thing that metrics are of, named as Flink's logical
// scopes.
type Scope string

// The scopes, with the labels their groups have.
const (
	JobManager            Scope = "jobmanager"                    // host
	JobManagerJob         Scope = "jobmanager_job"                // and job_id, job_name
	JobManagerJobOperator Scope = "jobmanager_job_operator"       // and task_id, task_name, operator_id, operator_name
	TaskManager           Scope = "taskmanager"                   // host, tm_id
	Task                  Scope = "taskmanager_job_task"          // and job_id, job_name, task_id, task_name, task_attempt_id, task_attempt_num, subtask_index
	Operator              Scope = "taskmanager_job_task_operator" // and operator_id, operator_name
)
