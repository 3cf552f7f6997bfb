package stream

import (
	"cmp"
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/embedded"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/streamgraph"
	"github.com/weirstream/weir/internal/worker"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// applySettings takes over what the program was started with.
func (e *Env) applySettings() {
	settings := map[string]string{}
	if text := os.Getenv(assignment.SettingsVariable); text != "" {
		if err := json.Unmarshal([]byte(text), &settings); err != nil {
			e.problem("environment variable "+assignment.SettingsVariable, "%w", err)
			return
		}
	}
	c, err := config.New(settings)
	if err != nil {
		e.problem("environment variable "+assignment.SettingsVariable, "%w", err)
		return
	}
	e.settings = settings
	e.mode = RuntimeMode(config.ExecutionRuntimeMode.In(c))
	e.buffer = config.ExecutionBufferTimeout.In(c)
	if !config.ExecutionBufferTimeoutEnabled.In(c) {
		e.buffer = -1
	}
	e.watermarkInterval = config.PipelineAutoWatermarkInterval.In(c)
	e.splitsApart = config.PipelineWatermarkAlignmentUnaligned.In(c)
	e.graph.ChainingDisabled = !config.PipelineOperatorChaining.In(c)
	e.graph.Pipelined = config.ExecutionBatchShuffleMode.In(c) == config.ExchangesPipelined
	e.graph.MaxParallelism = max(0, config.PipelineMaxParallelism.In(c))
	e.open.enabled = config.BatchAutoParallelism.In(c)
	if most, set := config.BatchMaxParallelism.Lookup(c); set {
		e.open.most = most
	}
	if p, set := config.ParallelismDefault.Lookup(c); set || onCluster() {
		e.graph.Parallelism, e.unbounded = p, !set
	}
}

// onCluster says that the program was started for a cluster: to describe its
// job or to work for it.
func onCluster() bool {
	return os.Getenv(assignment.PlanVariable) != "" || os.Getenv(assignment.WorkerVariable) != ""
}

// Execute runs the program as a job of the given name, or "Weir Job", and returns
// when it has ended: nil when it has finished, otherwise the first cause of its
// failure, with the task, and for a panic the line. When ctx ends, the job is
// canceled and Execute returns the cause of ctx. The text of an error that a
// function returned is kept, its identity is not: it may come from another process.
//
// Mistakes in the program are returned, all of them, before anything runs; each
// names the line that made the stream. An Env is executed once.
//
// Started by `weir run`, the program describes its job here and ends; in the job's
// workers Execute serves tasks and ends the process with them.
func (e *Env) Execute(ctx context.Context, name string) error {
	if e.executed {
		return errors.New("Execute: this environment was executed before: make a new one for another job")
	}
	e.executed = true
	compiled, err := e.compile(name)
	if err != nil {
		return err
	}
	if text := os.Getenv(assignment.WorkerVariable); text != "" {
		return worker.Serve(ctx, text, compiled, e.buffer)
	}
	path := os.Getenv(assignment.PlanVariable)
	if os.Getenv(assignment.PreviewVariable) == "" {
		if err := e.before(path != ""); err != nil {
			return err
		}
	}
	if path != "" {
		return worker.Describe(path, compiled)
	}
	return embedded.Run(ctx, embedded.Options{Compiled: compiled, BufferTimeout: e.buffer, Begun: e.begun, Logger: e.logger})
}

// Compile gives the job that Execute would run, for tools of this module: package
// streamtest drives it by hand. Like Execute it is called once, and not besides it.
func (e *Env) Compile(name string) (*streamgraph.Compiled, error) {
	if e.executed {
		return nil, errors.New("Compile: this environment was executed before: make a new one for another job")
	}
	e.executed = true
	return e.compile(name)
}

// openUpTo is the most that a parallelism may become that is decided while the job
// runs; 0: none is.
func (e *Env) openUpTo() int {
	switch {
	case !e.open.enabled:
		return 0
	case e.open.most > 0:
		return e.open.most
	case e.unbounded:
		return config.BatchMaxParallelism.Default
	}
	return e.graph.Parallelism
}

// before runs the checks that are made once, where the job is submitted.
func (e *Env) before(onCluster bool) error {
	var problems []error
	for _, n := range e.graph.Nodes {
		if n.Before == nil {
			continue
		}
		if err := n.Before(onCluster); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", n.Site, err))
		}
	}
	return errors.Join(problems...)
}

// compile turns the program into a job, or says what is wrong with it.
func (e *Env) compile(name string) (*streamgraph.Compiled, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	g := e.graph
	g.Name = cmp.Or(name, "Weir Job")
	g.Parallelism = cmp.Or(g.Parallelism, runtime.GOMAXPROCS(0))
	g.Configuration = e.configuration()
	batch, err := e.batch()
	if err != nil {
		return nil, err
	}
	g.Batch = batch
	g.OpenUpTo = e.openUpTo()
	for _, n := range e.collectors {
		if len(n.In) == 1 && n.In[0].Implicit {
			n.Parallelism, n.MaxAllowed = n.In[0].From.Parallelism, n.In[0].From.MaxAllowed
		}
	}
	compiled, err := streamgraph.Compile(g, ident.JobID{})
	if err != nil {
		return nil, err
	}
	return compiled, errors.Join(checkEdges(compiled), checkCoLocation(g))
}

// configuration gives the settings that travel with the job.
func (e *Env) configuration() map[string]string {
	c := map[string]string{
		config.ExecutionRuntimeMode.Key:          string(e.mode),
		config.ExecutionBufferTimeoutEnabled.Key: strconv.FormatBool(e.buffer >= 0),
		config.PipelineOperatorChaining.Key:      strconv.FormatBool(!e.graph.ChainingDisabled),
		config.PipelineAutoWatermarkInterval.Key: strconv.FormatInt(e.watermarkInterval.Milliseconds(), 10) + " ms",
	}
	if !e.unbounded { // what nobody has said must not become a bound in the workers
		c[config.ParallelismDefault.Key] = strconv.Itoa(e.graph.Parallelism)
	}
	if e.buffer >= 0 {
		c[config.ExecutionBufferTimeout.Key] = strconv.FormatInt(e.buffer.Milliseconds(), 10) + " ms"
	}
	if e.graph.MaxParallelism > 0 {
		c[config.PipelineMaxParallelism.Key] = strconv.Itoa(e.graph.MaxParallelism)
	}
	for k, v := range e.settings {
		if _, set := c[k]; !set {
			c[k] = v
		}
	}
	return c
}

// batch decides the mode from the boundedness of the sources.
func (e *Env) batch() (bool, error) {
	for _, n := range e.graph.Nodes {
		if n.Kind == streamgraph.Source && !n.Bounded {
			if e.mode == Batch {
				return false, fmt.Errorf("%s: %s is unbounded and cannot run in BATCH mode: set execution.runtime-mode to STREAMING or AUTOMATIC", n.Site, n.Name)
			}
			return false, nil
		}
	}
	return e.mode != Streaming, nil
}

// checkEdges reports records that would have to leave a task and cannot be
// encoded.
func checkEdges(c *streamgraph.Compiled) error {
	var problems []error
	for _, v := range c.Graph.Vertices {
		for _, out := range c.Chains[v.ID].Outputs {
			if err := out.Stream().(operator.Stream).Err(); err != nil {
				problems = append(problems, fmt.Errorf("%s: the records of %q go to another task and cannot be encoded: %w", out.From.Site, out.From.Name, err))
			}
		}
	}
	return errors.Join(problems...)
}

// checkCoLocation reports groups whose members cannot share slots.
func checkCoLocation(g *streamgraph.Graph) error {
	var problems []error
	first := map[string]*streamgraph.Node{}
	for _, n := range g.Nodes {
		if n.CoLocation == "" {
			continue
		}
		f := first[n.CoLocation]
		if f == nil {
			first[n.CoLocation] = n
			continue
		}
		if f.Parallelism != n.Parallelism || f.SlotSharingGroup != n.SlotSharingGroup {
			problems = append(problems, fmt.Errorf("%s: %s has parallelism %d in slot sharing group %q, but %s, in the same co-location group %q, has %d in %q: both must agree",
				n.Site, n.Name, n.Parallelism, n.SlotSharingGroup, f.Name, n.CoLocation, f.Parallelism, f.SlotSharingGroup))
		}
	}
	return errors.Join(problems...)
}
