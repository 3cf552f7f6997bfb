package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/status"
)

// defaultExceptions is how many entries are given when none is asked for.
const defaultExceptions = 20

// An exceptionInfo is one failure: Flink's fields, then ours.
type exceptionInfo struct {
	Name        string            `json:"exceptionName"`
	Stack       string            `json:"stacktrace"`
	Time        int64             `json:"timestamp"`
	Labels      map[string]string `json:"failureLabels"`
	Task        string            `json:"taskName,omitempty"`
	Endpoint    string            `json:"endpoint,omitempty"`
	TaskManager string            `json:"taskManagerId,omitempty"`
	Concurrent  *[]exceptionInfo  `json:"concurrentExceptions,omitzero"` // nil in a concurrent one

	// Cause is the innermost cause, and Chain the texts around it.
	Cause   string       `json:"cause"`
	Chain   []string     `json:"chain,omitempty"`
	Kind    string       `json:"kind"`
	Attempt *int         `json:"attempt,omitempty"` // nil: the failure is of no one task
	Process *processInfo `json:"process,omitempty"`
	Record  *recordInfo  `json:"record,omitempty"`
	// Decision is what was done about it, in words, and Restart the same in
	// numbers, if something was restarted. Folded are the failures that only
	// followed from it. Concurrent and folded ones have none of these.
	Decision string           `json:"decision,omitempty"`
	Restart  *restartInfo     `json:"restart,omitempty"`
	Folded   *[]exceptionInfo `json:"folded,omitzero"`
}

// processInfo is how the job's process died.
type processInfo struct {
	Exit       int    `json:"exit-code"`
	Signal     string `json:"signal,omitempty"`
	PeakMemory int64  `json:"peak-memory,omitempty"` // bytes
	Stderr     string `json:"stderr"`                // its last lines
}

// recordInfo is the record that was being processed.
type recordInfo struct {
	Origin string `json:"origin"`
	Value  string `json:"value,omitempty"`
}

// restartInfo is a restart.
type restartInfo struct {
	Attempt  int    `json:"attempt"` // in the job's life, from 1
	Delay    int64  `json:"delay"`   // milliseconds
	Tasks    int    `json:"tasks"`
	Strategy string `json:"strategy"`
}

// jobException is an entry of Flink's older list of failures.
type jobException struct {
	Exception string `json:"exception"`
	Task      string `json:"task"`
	Location  string `json:"location"`
	Time      int64  `json:"timestamp"`
	Manager   string `json:"taskManagerId"`
}

func (s *Server) exceptions(r *request) (answer, error) {
	limit, err := r.queryInt("maxExceptions", defaultExceptions)
	if err != nil {
		return answer{}, err
	}
	if limit < 0 {
		return answer{}, fail(http.StatusBadRequest, fmt.Sprintf("The query parameter maxExceptions is %d; it must be at least 0.", limit))
	}
	filtered, err := r.labelFilter()
	if err != nil {
		return answer{}, err
	}
	v, err := s.view(r)
	if err != nil {
		return answer{}, err
	}
	failures := v.Failures
	if filtered { // no failure has a label in this version
		failures = nil
	}
	type entries struct {
		Entries   []exceptionInfo `json:"entries"`
		Truncated bool            `json:"truncated"`
	}
	body := struct {
		History   entries        `json:"exceptionHistory"`
		Root      *string        `json:"root-exception"`
		Time      *int64         `json:"timestamp"`
		All       []jobException `json:"all-exceptions"`
		Truncated bool           `json:"truncated"`
	}{History: entries{Truncated: v.Truncated || len(failures) > limit || limit == 0}}
	for _, f := range failures[:min(len(failures), limit)] {
		body.History.Entries = append(body.History.Entries, rootException(f))
		body.All = append(body.All, jobException{
			stackOf(f.Failure), cmp.Or(f.Task, "(global failure)"), cmp.Or(f.Host, unassigned), millis(f.Time), cmp.Or(string(f.TaskManager), unassigned),
		})
	}
	body.Truncated = body.History.Truncated
	if len(v.Failures) > 0 {
		text, at := stackOf(v.Failures[0].Failure), millis(v.Failures[0].Time)
		body.Root, body.Time = &text, &at
	}
	return ok(body)
}

// labelFilter reads failureLabelFilter=KEY:VALUE,…; it says whether there is one.
func (r *request) labelFilter() (bool, error) {
	text := r.query.Get("failureLabelFilter")
	if text == "" {
		return false, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		if key, value, found := strings.Cut(part, ":"); !found || key == "" || value == "" || strings.Contains(value, ":") {
			return false, badParameter("query", "failureLabelFilter", text)
		}
	}
	return true, nil
}

func rootException(f execgraph.FailureEntry) exceptionInfo {
	info := exceptionOf(f)
	concurrent, folded := exceptionsOf(f.Concurrent), exceptionsOf(f.Folded)
	info.Concurrent, info.Folded = &concurrent, &folded
	if d := f.Decision; d != nil {
		info.Decision = d.String()
		if d.Restarted {
			info.Restart = &restartInfo{Attempt: d.Attempt, Delay: d.Delay.Milliseconds(), Tasks: d.Tasks, Strategy: d.Strategy}
		}
	}
	return info
}

func exceptionsOf(failures []execgraph.FailureEntry) []exceptionInfo {
	all := []exceptionInfo{}
	for _, f := range failures {
		all = append(all, exceptionOf(f))
	}
	return all
}

func exceptionOf(f execgraph.FailureEntry) exceptionInfo {
	info := exceptionInfo{Time: millis(f.Time), Task: f.Task, Endpoint: f.Host, TaskManager: string(f.TaskManager), Stack: stackOf(f.Failure)}
	if f.Task != "" {
		attempt := f.Attempt.Attempt
		info.Attempt = &attempt
		info.Task = fmt.Sprintf("%s - execution #%d", f.Task, attempt)
	}
	if f.Failure == nil {
		return info
	}
	info.Name, info.Kind = string(f.Failure.Kind), string(f.Failure.Kind)
	info.Cause, info.Chain = f.Failure.Message, f.Failure.Chain
	if f.Failure.ProcessDied() {
		info.Process = &processInfo{Exit: f.Failure.Exit, Signal: f.Failure.Signal, PeakMemory: f.Failure.PeakMemory, Stderr: f.Failure.Stderr}
	}
	if r := f.Failure.Record; r != nil {
		info.Record = &recordInfo{r.Origin, r.Value}
	}
	return info
}

// stackOf is all that is known of a failure as one text: what happened, the
// stack of the goroutine, the last words of the process.
func stackOf(f *status.Failure) string {
	if f == nil {
		return ""
	}
	text := f.Message
	if len(f.Chain) > 0 {
		text += "\nWhile: " + strings.Join(f.Chain, ": ")
	}
	if f.Record != nil {
		text += "\nRecord: " + f.Record.Origin
		if f.Record.Value != "" {
			text += ": " + f.Record.Value
		}
	}
	if f.Stack != "" {
		text += "\n" + f.Stack
	}
	if f.Stderr != "" {
		text += "\nThe end of the process's standard error:\n" + f.Stderr
	}
	return text
}
