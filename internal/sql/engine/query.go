package engine

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/estimate"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/optimize"
	"github.com/weirstream/weir/internal/sql/physical"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// show writes a value as results show it.
func (st *statement) show(t types.Type, c *batch.Column, i int) string {
	return string(expr.AppendDisplay(nil, st.now.Zone, t, c, i))
}

// planned makes the job of sinks; nil if none is to begin.
func (st *statement) planned(sinks ...*logical.Sink) (*exec.Compiled, error) {
	job, err := st.job(sinks...)
	if err != nil || st.planOnly {
		return nil, err
	}
	return exec.Compile(job, st.o.Registry, st.o.Connectors)
}

// job makes the plan of sinks. If no job is to begin, that of a stream may be unfinished.
func (st *statement) job(sinks ...*logical.Sink) (*plan.Job, error) {
	if err := st.connected(sinks...); err != nil {
		return nil, err
	}
	job := &plan.Job{Name: st.name(sinks), Statement: st.text, Batch: st.bounded(), Settings: st.config.JobSettings(), Session: st.now}
	if sinks[0].Table == nil && config.CheckpointInterval.In(st.config) > 0 {
		// Rows that the client has read cannot be taken back: a query begins anew or fails.
		job.Settings[config.CheckpointInterval.Key] = "0 s"
	}
	for _, s := range sinks {
		optimized := st.optimized(s).(*logical.Sink)
		if !job.Batch {
			if st.planOnly {
				continue
			}
			if err := streams(optimized); err != nil {
				return nil, err
			}
			st.wanted = most(optimized.Input)
		}
		root, err := st.physical(optimized)
		if err != nil {
			return nil, err
		}
		job.Sinks = append(job.Sinks, root)
	}
	if job.Batch {
		job.Sinks = st.shared(job.Sinks)
	}
	return job, nil
}

// physical plans how a tree is computed.
func (st *statement) physical(s *logical.Sink) (plan.Node, error) {
	if st.bounded() && !config.BatchBeyondFlink.In(st.config) {
		if err := streamsOnly(s); err != nil {
			return nil, err
		}
	}
	return physical.Sink(st.planning(), s)
}

// streamsOnly refuses what Flink computes as a stream only.
func streamsOnly(n logical.Node) error {
	const help = " SET '%s' = 'true' to have it computed."
	switch n := n.(type) {
	case *logical.Window:
		if n.Kind == logical.Session {
			return refused(session.ClassTable, "Unaligned windows like session are not supported in batch mode yet."+help, config.BatchBeyondFlink.Key)
		}
	case *logical.Over:
		if slices.ContainsFunc(n.Calls, func(c logical.AggregateCall) bool { return c.Distinct }) {
			return refused(session.ClassValidation, "Distinct not supported in Windowing function!"+help, config.BatchBeyondFlink.Key)
		}
	}
	for _, in := range n.Inputs() {
		if err := streamsOnly(in); err != nil {
			return err
		}
	}
	return nil
}

// shared lets a plan compute once what it needs more than once, if that is wanted.
func (st *statement) shared(roots []plan.Node) []plan.Node {
	if !config.TableReuseSubPlan.In(st.config) {
		return roots
	}
	return physical.Share(st.planning(), roots, config.TableReuseSource.In(st.config))
}

// planning is what plans are made with.
func (st *statement) planning() physical.Options {
	o := physical.Options{Registry: st.o.Registry, Session: st.now}
	if !st.bounded() {
		return o
	}
	parallelism, set := config.ParallelismDefault.Lookup(st.config)
	if !set {
		parallelism = manySubtasks
	}
	o.Estimate, o.Parallelism, o.MostBroadcast = estimate.New(st.rows), parallelism, config.TableBroadcastThreshold.In(st.config)
	return o
}

// manySubtasks is how many subtasks operators are taken to have where nothing says it.
const manySubtasks = 8

func (st *statement) optimized(n logical.Node) logical.Node {
	return optimize.Optimize(&optimize.Context{Registry: st.o.Registry, Session: st.now, Estimate: estimate.New(st.rows)}, n)
}

// name is what a job is called.
func (st *statement) name(sinks []*logical.Sink) string {
	switch name := st.settings["pipeline.name"]; {
	case name != "":
		return name
	case sinks[0].Table == nil:
		return st.title
	}
	return "insert-into_" + strings.Join(written(sinks), ",")
}

// written are the names of the tables that sinks write.
func written(sinks []*logical.Sink) []string {
	var all []string
	for _, s := range sinks {
		all = append(all, s.Path.String())
	}
	return numberedNames(all)
}

// numberedNames tells names apart that come more than once.
func numberedNames(names []string) []string {
	seen := map[string]int{}
	for _, n := range names {
		seen[n]++
	}
	all := slices.Clone(names)
	for i, n := range names {
		if seen[n] > 1 {
			all[i] = n + "_" + strconv.Itoa(i+1)
		}
	}
	return all
}

// query begins a query's job, whose rows are the result.
func (st *statement) query(q *ast.Query) (*session.Result, error) {
	bound, text, err := bind.View(st.binding(), q)
	if err != nil {
		return nil, err
	}
	st.title = text
	schema := bound.Fields()
	compiled, err := st.planned(&logical.Sink{Input: bound})
	if err != nil {
		return nil, err
	}
	if compiled == nil {
		return done(), nil
	}
	begin := func(ctx context.Context) (Job, error) { return st.o.Runner.Submit(ctx, compiled, schema) }
	job, err := begin(st.ctx)
	if err != nil {
		return nil, executing(err)
	}
	left := int64(-1)
	if compiled.Unbounded {
		left = st.wanted
	}
	if !st.keep(job) {
		return nil, errors.Join(errClosed, job.Cancel())
	}
	return &session.Result{Schema: schema, Content: true, Query: true, Job: job.ID(), Rows: &queryRows{s: st.Session, begin: begin, job: job, left: left}}, nil
}

// errClosed says that a session has ended, or whoever had its query's rows.
var errClosed = errors.New("the session was closed")

func executing(err error) error {
	var known *session.Error
	if errors.As(err, &known) {
		return err
	}
	return &session.Error{Class: session.ClassTable, Text: "Failed to execute sql", Cause: failed(err)}
}

// insert begins the job of an INSERT, or puts it into the set that was begun.
func (st *statement) insert(i *ast.Insert) (*session.Result, error) {
	sink, err := bind.Insert(st.binding(), i)
	if err != nil {
		return nil, err
	}
	if st.inserts != nil {
		if err := st.connected(sink); err != nil {
			return nil, err
		}
		st.inserts.add(sink)
		return done(), nil
	}
	return st.write(sink)
}

// write begins the job of sinks, and waits for it if that was asked for.
func (st *statement) write(sinks ...*logical.Sink) (*session.Result, error) {
	compiled, err := st.planned(sinks...)
	if err != nil {
		return nil, err
	}
	if compiled == nil {
		return done(), nil
	}
	return st.submit(compiled, written(sinks))
}

// submit begins a job that writes tables, and waits for it if that was asked for.
func (st *statement) submit(compiled *exec.Compiled, tables []string) (*session.Result, error) {
	job, err := st.o.Runner.Submit(st.ctx, compiled, nil)
	if err != nil {
		return nil, executing(err)
	}
	if config.TableDMLSync.In(st.config) {
		if err := job.Wait(st.ctx); err != nil {
			if st.ctx.Err() != nil {
				err = errors.Join(err, cancel(job))
			}
			return nil, executing(err)
		}
	}
	result := &session.Result{Content: true, Job: job.ID()}
	block := &batch.Columns{N: 1}
	for _, name := range tables {
		result.Schema = append(result.Schema, types.Field{Name: name, Type: types.Of(types.BigInt)})
		count := batch.NewColumn(types.Of(types.BigInt))
		batch.Append(count, int64(-1)) // how many rows were written is not known
		block.Cols = append(block.Cols, count)
	}
	result.Rows = &made{block: block}
	return result, nil
}

// ending is how long a job is waited for that was canceled. One that has begun to give what
// it wrote its name may do so to the end.
const ending = 10 * time.Second

// cancel ends a job that writes tables, and waits until it has: whoever is told that it was
// canceled may look at the tables, or write them again.
func cancel(job Job) error {
	if err := job.Cancel(); err != nil {
		return err
	}
	ctx, done := context.WithTimeout(context.Background(), ending)
	defer done()
	_ = job.Wait(ctx) // it says that the job was canceled
	return nil
}

// made are rows that are there.
type made struct{ block *batch.Columns }

// Next gives the rows once.
func (r *made) Next(context.Context) (*batch.Columns, error) {
	if r.block == nil {
		return nil, io.EOF
	}
	b := r.block
	r.block = nil
	return b, nil
}

// Close does nothing.
func (r *made) Close() error { return nil }

// done is the result of a statement that has none.
func done() *session.Result {
	return &session.Result{Schema: []types.Field{{Name: "result", Type: types.String()}}, Rows: &made{texts([]types.Field{{Type: types.String()}}, []any{"OK"})}}
}

// told is a result of texts and truths.
func told(schema []types.Field, rows ...[]any) *session.Result {
	return &session.Result{Schema: schema, Content: true, Rows: &made{texts(schema, rows...)}}
}

// column is a column of a result that tells something.
func column(name string, t types.Type) types.Field { return types.Field{Name: name, Type: t} }

// texts makes rows of strings and booleans; nil is NULL.
func texts(schema []types.Field, rows ...[]any) *batch.Columns {
	b := &batch.Columns{N: len(rows)}
	for i, f := range schema {
		c := batch.NewColumn(f.Type)
		for _, r := range rows {
			switch v := r[i].(type) {
			case string:
				c.AppendBytes([]byte(v))
			case bool:
				batch.Append(c, v)
			default:
				c.AppendNull()
			}
		}
		b.Cols = append(b.Cols, c)
	}
	return b
}
