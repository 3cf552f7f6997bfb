package exec

import (
	"context"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/codec/columns"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/types"
)

// collectKind is what the coordinator of a Collect is called in job graphs.
const collectKind = "collect"

// collectRows is how many rows a batch for the client has at most, and collectBytes
// about how many bytes.
const collectRows, collectBytes = 1024, 256 << 10

// collect makes the sink whose rows the client reads from its coordinator.
func collect(schema []types.Type) operator.Factory {
	return operator.FactoryFunc(func(c *operator.Context, _ any) any {
		s := &collecting{c: c, open: newBatch(schema)}
		c.OnFlush(s.flush)
		return &operator.Receiver[*batch.Columns]{
			Push:      func(b *batch.Columns, _ int64) { s.push(b) },
			Watermark: func(int64) {},
			Idle:      func(bool) {},
			Finish: func() {
				s.flush()
				s.send(&pb.CollectedRows{Number: s.number, Last: true})
			},
		}
	})
}

// collecting is the sink's one subtask.
type collecting struct {
	c      *operator.Context
	open   *batch.Columns
	number int64 // of the batch to come
}

func (s *collecting) push(b *batch.Columns) {
	kinds := len(b.Kind) > 0 || len(s.open.Kind) > 0
	for first := 0; first < b.Len(); first += collectRows {
		p := part(b, first, min(b.Len(), first+collectRows))
		had := s.open.N
		addRows(s.open, p, nil)
		if kinds {
			s.open.Kind = addKinds(s.open.Kind, p, had)
		}
		if s.open.N >= collectRows || bytesOf(s.open) >= collectBytes {
			s.flush()
		}
	}
}

// addKinds adds the row kinds of b to those of had rows.
func addKinds(kinds []batch.RowKind, b *batch.Columns, had int) []batch.RowKind {
	for len(kinds) < had {
		kinds = append(kinds, batch.Insert)
	}
	for k := range b.Len() {
		i := k
		if b.Sel != nil {
			i = int(b.Sel[k])
		}
		if len(b.Kind) == 0 {
			kinds = append(kinds, batch.Insert)
		} else {
			kinds = append(kinds, b.Kind[i])
		}
	}
	return kinds
}

// flush gives the coordinator what there is, and waits until it has room for more.
func (s *collecting) flush() {
	if s.open.N == 0 {
		return
	}
	s.send(&pb.CollectedRows{Number: s.number, Rows: columns.Append(nil, s.open)})
	s.number++
	clearBatch(s.open)
}

func (s *collecting) send(m *pb.CollectedRows) {
	payload, err := proto.Marshal(m)
	operator.Check(err)
	if _, err = s.c.Call(s.c.OperatorID, payload); err != nil {
		operator.Abort(fmt.Errorf("give the result to the client: %w", err))
	}
}

// Requester asks the coordinator of an operator in a job. No answer means that it is to be
// asked again.
type Requester func(ctx context.Context, operator ident.OperatorID, payload []byte) ([]byte, error)

// Result reads the rows of a job with a Collect. One goroutine reads.
type Result struct {
	ask      Requester
	operator ident.OperatorID
	shape    []*batch.Column
	held     []*batch.Columns
	next     int64
	end      bool
}

// ResultOf gives the reader of a job's only Collect, which has this schema.
func ResultOf(g *jobgraph.Graph, schema []types.Field, ask Requester) (*Result, error) {
	for _, o := range g.Operators() {
		if o.Coordinator != nil && o.Coordinator.Kind == collectKind {
			r := &Result{ask: ask, operator: o.ID}
			for _, f := range schema {
				r.shape = append(r.shape, batch.NewColumn(f.Type))
			}
			return r, nil
		}
	}
	return nil, fmt.Errorf("job %q has no result that could be read", g.Name)
}

// Next waits for the next batch, which is the caller's; io.EOF: there is none. Any
// other error may follow from the failure of the job, which then tells more.
func (r *Result) Next(ctx context.Context) (*batch.Columns, error) {
	for len(r.held) == 0 {
		if r.end {
			return nil, io.EOF
		}
		if err := r.read(ctx); err != nil {
			return nil, err
		}
	}
	b := r.held[0]
	r.held = r.held[1:]
	return b, nil
}

// Alive says that there will be more requests. Any goroutine may call it.
func (r *Result) Alive(ctx context.Context) error {
	payload, err := proto.Marshal(&pb.CollectRequest{Alive: true})
	if err == nil {
		_, err = r.ask(ctx, r.operator, payload)
	}
	return err
}

func (r *Result) read(ctx context.Context) error {
	payload, err := proto.Marshal(&pb.CollectRequest{From: r.next})
	if err != nil {
		return err
	}
	if payload, err = r.ask(ctx, r.operator, payload); err != nil || len(payload) == 0 {
		return err
	}
	m := &pb.CollectResponse{}
	if err := proto.Unmarshal(payload, m); err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	for i, text := range m.Rows {
		if m.First+int64(i) < r.next {
			continue // had already
		}
		b, err := columns.Decode(text, r.shape)
		if err != nil {
			return fmt.Errorf("read the result: %w", err)
		}
		r.held = append(r.held, b)
	}
	r.next, r.end = m.First+int64(len(m.Rows)), m.End
	return nil
}
