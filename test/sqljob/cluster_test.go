// Package sqljob_test runs physical plans on a cluster with worker processes.
package sqljob_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cli"
	"github.com/weirstream/weir/internal/cluster/master"
	"github.com/weirstream/weir/internal/cluster/taskmanager"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/exec"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/internal/worker/assignment"
	"github.com/weirstream/weir/types"
)

// The binary of this test is also the program of the workers.
func TestMain(m *testing.M) {
	if os.Getenv(assignment.WorkerVariable) != "" {
		os.Exit(cli.Main(nil, os.Stdout, os.Stderr))
	}
	leaks.Main(m)
}

// hang is after which time what goes on is taken for hanging, on a busy machine too.
const hang = 5 * time.Minute

// start starts a JobManager and a TaskManager in this process.
func start(t *testing.T, dynamic ...string) *master.Master {
	t.Helper()
	t.Setenv(config.HomeVariable, t.TempDir())
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	cfg, err := config.Load("", append([]string{"jobmanager.rpc.port=0", "jobmanager.memory.process.size=1600m", "taskmanager.memory.process.size=1728m",
		"taskmanager.numberOfTaskSlots=2", "io.tmp.dirs=" + t.TempDir()}, dynamic...))
	if err != nil {
		t.Fatal(err)
	}
	m, err := master.Start(cfg, master.Options{Version: "test", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if cfg, err = cfg.With("jobmanager.rpc.port", m.RPCAddress()[strings.LastIndex(m.RPCAddress(), ":")+1:]); err != nil {
		t.Fatal(err)
	}
	tm, err := taskmanager.Start(cfg, taskmanager.Options{Version: "test", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tm.Close(context.Background(), "the test has ended"); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestAPlanRunsInWorkersOfWeirItself(t *testing.T) {
	m := start(t)
	bigint := types.Of(types.BigInt)
	schema := []types.Field{{Name: "a", Type: bigint}}
	source := &plan.Values{Base: plan.Base{Schema: schema}}
	for first := range int64(1000) {
		c := batch.NewColumn(bigint)
		for i := range int64(1000) {
			batch.Append(c, first*1000+i)
		}
		source.Rows = append(source.Rows, &batch.Columns{N: c.Len, Cols: []*batch.Column{c}})
	}
	spread := &plan.Exchange{Base: plan.Base{Inputs: []plan.Node{source}, Schema: schema}, Distribution: plan.Hash, Keys: []int{0}}
	twice, err := builtin.Registry().Call(expr.UTC, "+", ast.Span{}, &expr.Input{T: bigint}, &expr.Input{T: bigint})
	if err != nil {
		t.Fatal(err)
	}
	calc := &plan.Calc{Base: plan.Base{Inputs: []plan.Node{spread}, Schema: schema, Parallelism: 2}, Project: []expr.Expr{twice}}
	rows, sums := collect(t, m, calc)
	if want := int64(999_999) * 1_000_000; rows != 1_000_000 || sums[0] != want {
		t.Errorf("got %d rows with sum %d, want a million with %d", rows, sums[0], want)
	}
}

// collect runs a plan to its end, and gives how many rows it has and the sums of its
// columns, which are BIGINT.
func collect(t *testing.T, m *master.Master, root plan.Node) (rows int, sums []int64) {
	t.Helper()
	schema := root.Common().Schema
	job := &plan.Job{Name: "sum", Batch: true, Session: expr.UTC, Sinks: []plan.Node{&plan.Collect{Base: plan.Base{Inputs: []plan.Node{root}, Schema: schema}}}}
	c, err := exec.Compile(job, builtin.Registry(), builtin.Connectors())
	if err != nil {
		t.Fatal(err)
	}
	g := c.Graph
	g.Job = ident.JobID{ID: ident.New(rand.New(rand.NewPCG(rand.Uint64(), 1)))}
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if err := m.Dispatcher().Submit(ctx, g); err != nil {
		t.Fatal(err)
	}
	result, err := exec.ResultOf(g, schema, func(ctx context.Context, op ident.OperatorID, payload []byte) ([]byte, error) {
		return m.Dispatcher().Request(ctx, g.Job, op, payload)
	})
	if err != nil {
		t.Fatal(err)
	}
	sums = make([]int64, len(schema))
	for {
		b, err := result.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			view, _ := m.Dispatcher().Job(t.Context(), g.Job)
			t.Fatalf("%v: the job is %s, %+v", err, view.State, view.Failures)
		}
		rows += b.N
		for i, c := range b.Cols {
			for _, v := range c.I64 {
				sums[i] += v
			}
		}
	}
	view, err := m.Dispatcher().Wait(ctx, g.Job)
	if err != nil || view.State != status.JobFinished {
		t.Errorf("the job ended as %s, %v", view.State, err)
	}
	return rows, sums
}

// TestAnAggregationLargerThanItsMemory has groups that take many times the managed memory
// of a slot, so that they go to disk and come back.
func TestAnAggregationLargerThanItsMemory(t *testing.T) {
	m := start(t, "taskmanager.memory.managed.size=8m")
	bigint := types.Of(types.BigInt)
	schema := []types.Field{{Name: "a", Type: bigint}, {Name: "b", Type: bigint}}
	source := &plan.Values{Base: plan.Base{Schema: schema}}
	const batches, keys = 400, 300_000
	total := int64(0)
	for first := range int64(batches) {
		key, value := batch.NewColumn(bigint), batch.NewColumn(bigint)
		for i := range int64(1000) {
			n := first*1000 + i
			batch.Append(key, n*7919%keys)
			batch.Append(value, n)
			total += n
		}
		source.Rows = append(source.Rows, &batch.Columns{N: key.Len, Cols: []*batch.Column{key, value}})
	}
	together := &plan.Exchange{Base: plan.Base{Inputs: []plan.Node{source}, Schema: schema}, Distribution: plan.Hash, Keys: []int{0}}
	groups := &plan.Aggregate{Base: plan.Base{Inputs: []plan.Node{together}, Schema: append(schema, types.Field{Name: "c", Type: bigint.NotNull()}), Parallelism: 2}, Keys: []int{0},
		Calls: []plan.AggregateCall{{Function: "SUM", Args: []int{1}, ArgTypes: []types.Type{bigint}, Filter: -1, Type: bigint}, {Function: "COUNT", Filter: -1, Type: bigint.NotNull()}}}
	rows, sums := collect(t, m, groups)
	if rows != keys || sums[0] != int64(keys)*(keys-1)/2 || sums[1] != total || sums[2] != batches*1000 {
		t.Errorf("got %d groups with sums %v, want %d with %d, %d and %d", rows, sums, keys, int64(keys)*(keys-1)/2, total, batches*1000)
	}
}
