package status

// Execution is the state of one attempt to run one subtask.
type Execution uint8

// The execution states, named as Flink names them.
const (
	Created Execution = iota
	Scheduled
	Deploying
	Initializing
	Running
	Finished
	Canceling
	Canceled
	Failed
	Reconciling
	executionStates
)

var executionNames = [executionStates]string{
	"CREATED", "SCHEDULED", "DEPLOYING", "INITIALIZING", "RUNNING", "FINISHED", "CANCELING",
	"CANCELED", "FAILED", "RECONCILING",
}

func (s Execution) String() string { return executionNames[s] }

// Executions lists every execution state in declaration order.
func Executions() []Execution {
	all := make([]Execution, executionStates)
	for i := range all {
		all[i] = Execution(i)
	}
	return all
}

// ParseExecution reads the name of an execution state.
func ParseExecution(name string) (Execution, bool) {
	for i, n := range executionNames {
		if n == name {
			return Execution(i), true
		}
	}
	return 0, false
}

// executionTransitions is the table of protocols.md §3: CANCELED is reached
// directly only while nothing is deployed, FAILED from every live state.
var executionTransitions = map[Execution][]Execution{
	Created:      {Scheduled, Canceled, Failed},
	Scheduled:    {Deploying, Canceled, Failed},
	Deploying:    {Initializing, Canceling, Failed},
	Initializing: {Running, Canceling, Failed},
	Running:      {Finished, Canceling, Failed},
	Canceling:    {Canceled, Failed},
	Reconciling:  {Running, Canceling, Failed},
}

// Terminal reports whether the attempt has ended.
func (s Execution) Terminal() bool { return s == Finished || s == Canceled || s == Failed }

// CanBecome reports whether the table allows the step from s to next.
func (s Execution) CanBecome(next Execution) bool {
	for _, n := range executionTransitions[s] {
		if n == next {
			return true
		}
	}
	return false
}
