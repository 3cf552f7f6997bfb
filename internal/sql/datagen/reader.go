package datagen

import (
	"math/rand/v2"
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
)

// number gives a row's number for the row.
func number(n int64, _ *rand.Rand) int64 { return n }

type zone = *time.Location

// reader makes the rows of one subtask.
//
// Invariant: between two polls, numbers is empty: what has a number has been emitted.
type reader struct {
	connector.Reader // of the rows' numbers
	fields           []field
	c                connector.SourceContext
	out              connector.Output[*batch.Columns]
	seed             uint64
	numbers          []int64
	columns          []*batch.Column
}

// Poll makes a batch of rows.
func (r *reader) Poll() (connector.Progress, error) {
	r.out.Room()
	progress, err := r.Reader.Poll()
	if err != nil || len(r.numbers) == 0 {
		return progress, err
	}
	var bits rand.PCG
	v := row{random: rand.New(&bits), now: r.c.Now()}
	r.columns = r.columns[:0]
	for i, f := range r.fields {
		c := batch.NewColumn(f.t)
		for _, n := range r.numbers {
			bits.Seed(r.seed+uint64(i), uint64(n))
			v.n = n
			f.append(c, &v)
		}
		r.columns = append(r.columns, c)
	}
	r.out.Emit(&batch.Columns{N: len(r.numbers), Cols: r.columns}, batch.NoTimestamp)
	r.numbers = r.numbers[:0]
	return progress, nil
}
