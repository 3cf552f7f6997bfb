package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/internal/memory"
)

// exceptions tells what has failed in a job, why, and what was done about it.
func (p *invocation) exceptions() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "exceptions JOB", Short: "Tell what failed in a job, why, and what was done about it",
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.ofJob(args, "explain", func(c *client.Client, id string) error {
				history, err := c.Exceptions(cmd.Context(), id)
				if err != nil {
					return unknownJob(action("Could not get the failures of job "+id+".", err))
				}
				if asJSON {
					return p.json(failuresOf(history))
				}
				if len(history) == 0 {
					fmt.Fprintf(p.out, "Job %s has had no failure.\n", id)
				}
				for i := range history {
					if i > 0 {
						fmt.Fprintln(p.out)
					}
					printFailure(p.out, &history[i])
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the failures as JSON, newest first")
	return c
}

// failure is one entry of the list that --json prints. Decision and what stands
// after it are those of a decision, and missing in a failure beside one.
type failure struct {
	Cause       string         `json:"cause"`
	Task        string         `json:"task"`
	Attempt     *int           `json:"attempt"` // null: the failure is of no one task
	TaskManager string         `json:"taskManager"`
	Time        int64          `json:"time"` // Unix milliseconds
	Process     *failedProcess `json:"process,omitempty"`
	Record      *failedRecord  `json:"record,omitempty"`
	Decision    string         `json:"decision,omitempty"`
	Folded      *[]failure     `json:"folded,omitempty"`
	Concurrent  *[]failure     `json:"concurrent,omitempty"`
}

type failedProcess struct {
	ExitCode   int    `json:"exitCode"`
	Signal     string `json:"signal,omitempty"`
	PeakMemory int64  `json:"peakMemory,omitempty"` // bytes
	Stderr     string `json:"stderr,omitempty"`
}

type failedRecord struct {
	Origin string `json:"origin"`
	Value  string `json:"value,omitempty"`
}

func failuresOf(history []client.Exception) []failure {
	all := []failure{}
	for i := range history {
		f := failureOf(&history[i])
		folded, concurrent := []failure{}, []failure{}
		for j := range history[i].Folded {
			folded = append(folded, failureOf(&history[i].Folded[j]))
		}
		for j := range history[i].Concurrent {
			concurrent = append(concurrent, failureOf(&history[i].Concurrent[j]))
		}
		f.Folded, f.Concurrent = &folded, &concurrent
		all = append(all, f)
	}
	return all
}

func failureOf(e *client.Exception) failure {
	f := failure{Cause: causeOf(e), Task: taskOf(e), Attempt: e.Attempt, TaskManager: e.TaskManager, Time: e.Timestamp, Decision: e.Decision}
	if e.Process != nil {
		f.Process = &failedProcess{ExitCode: e.Process.Exit, Signal: e.Process.Signal, PeakMemory: e.Process.PeakMemory, Stderr: e.Process.Stderr}
	}
	if e.Record != nil {
		f.Record = &failedRecord{e.Record.Origin, e.Record.Value}
	}
	return f
}

// taskOf is the task's name without the attempt, which Flink appends.
func taskOf(e *client.Exception) string {
	name, _, _ := strings.Cut(e.Task, " - execution #")
	return name
}

// causeOf is the innermost cause on one line.
func causeOf(e *client.Exception) string {
	line, _, _ := strings.Cut(cmp.Or(e.Cause, e.StackTrace), "\n")
	return line
}

// maxNamed is how many of the failures beside a cause are named one by one.
const maxNamed = 3

// printFailure prints one failure: first the sentence a person wants first.
func printFailure(w io.Writer, e *client.Exception) {
	fmt.Fprintln(w, sentence(e))
	detail := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "  %-10s %s\n", name, strings.ReplaceAll(text, "\n", "\n             "))
		}
	}
	detail("decision", e.Decision)
	detail("when", time.UnixMilli(e.Timestamp).Format("2006-01-02 15:04:05.000"))
	if e.Endpoint != "" {
		detail("where", fmt.Sprintf("TaskManager %s (%s)", e.TaskManager, e.Endpoint))
	}
	detail("while", strings.Join(e.Chain, ": "))
	if e.Record != nil {
		detail("record", strings.TrimSuffix(e.Record.Origin+": "+e.Record.Value, ": "))
	}
	if p := e.Process; p != nil {
		detail("process", processEnd(p))
		detail("stderr", p.Stderr)
	}
	printOthers(detail, "also", e.Concurrent)
	printOthers(detail, "hence", e.Folded)
}

// sentence says who failed, and why.
func sentence(e *client.Exception) string {
	switch {
	case e.Task == "":
		return "The job failed: " + causeOf(e)
	case e.Attempt == nil:
		return taskOf(e) + " failed: " + causeOf(e)
	default:
		return fmt.Sprintf("%s, attempt %d, failed: %s", taskOf(e), *e.Attempt, causeOf(e))
	}
}

func processEnd(p *client.ProcessEnd) string {
	text := fmt.Sprintf("ended with exit code %d", p.Exit)
	if p.Signal != "" {
		text = "killed by " + p.Signal
	}
	if p.PeakMemory > 0 {
		text += ", had used " + memory.Size(p.PeakMemory).Human() + " at most"
	}
	return text
}

func printOthers(detail func(name, text string), name string, others []client.Exception) {
	for i := range others[:min(len(others), maxNamed)] {
		detail(name, sentence(&others[i]))
	}
	if more := len(others) - maxNamed; more > 0 {
		detail(name, fmt.Sprintf("and %d more", more))
	}
}
