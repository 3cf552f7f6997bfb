package plan

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/codec/columns"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/pattern"
	"github.com/weirstream/weir/internal/sql/plan/pb"
	"github.com/weirstream/weir/types"
)

// Decode reads what Encode wrote. The registry must have the functions of the plan.
func Decode(text []byte, registry *expr.Registry) (*Job, error) {
	m := &pb.Job{}
	if err := proto.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("decode plan: %w", err)
	}
	d := decoder{registry: registry}
	j := &Job{Name: m.Name, Statement: m.Statement, Batch: m.Batch, Settings: m.Settings}
	var err error
	if j.Session, err = session(m.Session); err != nil {
		return nil, fmt.Errorf("decode plan: %w", err)
	}
	for i, n := range m.Nodes {
		node, err := d.node(n)
		if err != nil {
			return nil, fmt.Errorf("decode plan: node %d: %w", i, err)
		}
		d.nodes = append(d.nodes, node)
	}
	if j.Sinks, err = d.inputs(m.Sinks); err != nil {
		return nil, fmt.Errorf("decode plan: %w", err)
	}
	return j, nil
}

func session(m *pb.Session) (*expr.Session, error) {
	zone, err := time.LoadLocation(m.GetZone())
	if m.GetFixed() {
		zone, err = time.FixedZone(m.Zone, int(m.Offset)), nil
	}
	if err != nil {
		return nil, fmt.Errorf("time zone %q: %w", m.GetZone(), err)
	}
	return &expr.Session{Zone: zone, Now: time.Unix(m.GetNowSeconds(), int64(m.GetNowNanos())).UTC(), LegacyCast: m.GetLegacyCast(),
		Database: m.GetDatabase(), Streaming: m.GetStreaming()}, nil
}

type decoder struct {
	registry *expr.Registry
	nodes    []Node
}

// inputs gives nodes that came before.
func (d *decoder) inputs(ids []uint32) ([]Node, error) {
	var all []Node
	for _, id := range ids {
		if int(id) >= len(d.nodes) {
			return nil, fmt.Errorf("it refers to node %d, of %d before it", id, len(d.nodes))
		}
		all = append(all, d.nodes[id])
	}
	return all, nil
}

func (d *decoder) node(m *pb.Node) (Node, error) {
	inputs, err := d.inputs(m.Inputs)
	if err != nil {
		return nil, err
	}
	b := Base{Inputs: inputs, Schema: fields(m.Schema), Name: m.Name, Parallelism: int(m.Parallelism)}
	switch w := m.What.(type) {
	case *pb.Node_Values:
		n := &Values{Base: b}
		for _, text := range w.Values.Rows {
			rows, err := columns.Decode(text, shape(b.Types()))
			if err != nil {
				return nil, err
			}
			n.Rows = append(n.Rows, rows)
		}
		return n, nil
	case *pb.Node_Scan:
		s := w.Scan
		filter, err := d.expr(s.Filter)
		return &Scan{b, s.Table, s.Connector, s.Options, fields(s.Columns), ints(s.Fields), filter, s.Limit, s.PartitionKeys}, err
	case *pb.Node_Calc:
		filter, err := d.expr(w.Calc.Filter)
		if err != nil {
			return nil, err
		}
		project, err := d.exprs(w.Calc.Project)
		if w.Calc.Projects && project == nil {
			project = []expr.Expr{}
		}
		return &Calc{b, filter, project}, err
	case *pb.Node_Expand:
		n := &Expand{Base: b}
		for _, p := range w.Expand.Projects {
			project, err := d.exprs(p.Exprs)
			if err != nil {
				return nil, err
			}
			n.Projects = append(n.Projects, project)
		}
		return n, nil
	case *pb.Node_Join:
		j := w.Join
		condition, err := d.expr(j.Condition)
		return &Join{b, JoinKind(j.Kind), Strategy(j.Strategy), ints(j.LeftKeys), ints(j.RightKeys), j.NullSafe, condition, j.NullAware, j.BuildLeft}, err
	case *pb.Node_Unnest:
		collection, err := d.expr(w.Unnest.Collection)
		return &Unnest{b, collection, w.Unnest.Ordinality, w.Unnest.Outer}, err
	case *pb.Node_Match:
		return d.match(b, w.Match)
	}
	return d.plain(b, m)
}

func (d *decoder) match(b Base, m *pb.Match) (Node, error) {
	n := &Match{Base: b, Partition: ints(m.Partition), Order: sortKeys(m.Order), Variables: m.Variables, AtFirst: m.AtFirst, AtLast: m.AtLast,
		Skip: pattern.Skip{Kind: pattern.SkipKind(m.Skip), Element: int(m.SkipElement)}, Within: m.Within}
	var err error
	if n.Measures, err = d.exprs(m.Measures); err != nil {
		return nil, err
	}
	for _, e := range m.Elements {
		n.Elements = append(n.Elements, pattern.Element{Min: int(e.Min), Max: int(e.Max), Reluctant: e.Reluctant})
	}
	for _, c := range m.Conditions {
		condition, err := d.expr(c.Condition)
		if err != nil {
			return nil, err
		}
		n.Conditions = append(n.Conditions, condition)
	}
	for _, v := range m.Values {
		to := MatchValue{Elements: ints(v.Elements), Column: int(v.Column), First: v.First, Offset: int(v.Offset), Time: v.Time, Type: typeOf(v.Type)}
		if to.Args, err = d.exprs(v.Args); err != nil {
			return nil, err
		}
		if v.Call != nil {
			to.Call = d.call(v.Call)
		}
		n.Values = append(n.Values, to)
	}
	return n, nil
}

// plain decodes the nodes that have no expressions.
func (d *decoder) plain(b Base, m *pb.Node) (Node, error) {
	switch w := m.What.(type) {
	case *pb.Node_Exchange:
		return &Exchange{b, Distribution(w.Exchange.Distribution), ints(w.Exchange.Keys)}, nil
	case *pb.Node_Aggregate:
		n := &Aggregate{Base: b, Phase: Phase(w.Aggregate.Phase), Keys: ints(w.Aggregate.Keys), Sorted: w.Aggregate.Sorted}
		for _, c := range w.Aggregate.Calls {
			n.Calls = append(n.Calls, d.call(c))
		}
		return n, nil
	case *pb.Node_Sort:
		return &Sort{b, sortKeys(w.Sort.Keys), w.Sort.Offset, w.Sort.Fetch}, nil
	case *pb.Node_Limit:
		return &Limit{b, w.Limit.Offset, w.Limit.Fetch}, nil
	case *pb.Node_Union:
		return &Union{b}, nil
	case *pb.Node_SetOperation:
		return &SetOperation{b, w.SetOperation.Except, w.SetOperation.All}, nil
	case *pb.Node_Over:
		n := &Over{Base: b, Partition: ints(w.Over.Partition), Order: sortKeys(w.Over.Order)}
		for _, c := range w.Over.Calls {
			n.Calls = append(n.Calls, OverCall{d.call(c.Call), FrameUnit(c.Unit), bound(c.Start), bound(c.End)})
		}
		return n, nil
	case *pb.Node_Window:
		return &Window{b, WindowKind(w.Window.Kind), int(w.Window.Time), w.Window.Zoned, w.Window.Size, w.Window.Slide, w.Window.Offset, ints(w.Window.Keys)}, nil
	case *pb.Node_Write:
		s := w.Write
		return &Write{b, s.Table, s.Connector, s.Options, fields(s.Columns), s.PartitionKeys, s.Overwrite}, nil
	case *pb.Node_Collect:
		return &Collect{b}, nil
	}
	return nil, fmt.Errorf("it is of no kind that is known: %T", m.What)
}

// shape are empty columns of these types.
func shape(schema []types.Type) []*batch.Column {
	all := make([]*batch.Column, len(schema))
	for i, t := range schema {
		all[i] = batch.NewColumn(t)
	}
	return all
}

func ints(all []int32) []int {
	var out []int
	for _, n := range all {
		out = append(out, int(n))
	}
	return out
}

func (d *decoder) call(m *pb.AggregateCall) AggregateCall {
	c := AggregateCall{Function: m.GetFunction(), Args: ints(m.GetArgs()), Filter: int(m.GetFilter()), Distinct: m.GetDistinct(),
		IgnoreNulls: m.GetIgnoreNulls(), Type: typeOf(m.GetType())}
	for _, t := range m.GetArgTypes() {
		c.ArgTypes = append(c.ArgTypes, typeOf(t))
	}
	if f, known := d.registry.Lookup(c.Function); known {
		c.Custom = f.Aggregate
	}
	return c
}

func sortKeys(all []*pb.SortKey) []SortKey {
	var out []SortKey
	for _, k := range all {
		out = append(out, SortKey{int(k.Column), k.Descending, k.NullsLast})
	}
	return out
}

func bound(m *pb.Bound) Bound {
	return Bound{Kind: BoundKind(m.GetKind()), Offset: m.GetOffset(), Double: m.GetDouble()}
}

func fields(all []*pb.Field) []types.Field {
	var out []types.Field
	for _, f := range all {
		out = append(out, types.Field{Name: f.Name, Type: typeOf(f.Type), Comment: f.Comment})
	}
	return out
}

func typeOf(m *pb.Type) types.Type {
	t := types.Type{Kind: types.Kind(m.GetKind()), Nullable: m.GetNullable(), Length: int(m.GetLength()), Precision: int(m.GetPrecision()),
		Scale: int(m.GetScale()), Resolution: types.Resolution(m.GetResolution()), Fields: fields(m.GetFields()), Name: m.GetName(), Time: types.TimeAttribute(m.GetTime())}
	if batch.LayoutOf(t) == batch.Lists || batch.LayoutOf(t) == batch.Maps { // whatever the bytes say
		t.Elem, t.Key = &types.Type{}, &types.Type{}
		if t.Kind != types.Map {
			t.Key = nil
		}
	}
	if m.GetElem() != nil {
		elem := typeOf(m.Elem)
		t.Elem = &elem
	}
	if m.GetKey() != nil {
		key := typeOf(m.Key)
		t.Key = &key
	}
	return t
}

func (d *decoder) exprs(all []*pb.Expr) ([]expr.Expr, error) {
	var out []expr.Expr
	for _, m := range all {
		e, err := d.expr(m)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// expr reads an expression; nil stays nil.
func (d *decoder) expr(m *pb.Expr) (expr.Expr, error) {
	if m == nil {
		return nil, nil
	}
	t, at := typeOf(m.Type), ast.Span{Start: int(m.Start), End: int(m.End)}
	switch {
	case m.Function != "":
		f, known := d.registry.Lookup(m.Function)
		if !known {
			return nil, fmt.Errorf("there is no function %s", m.Function)
		}
		args, err := d.exprs(m.Args)
		return &expr.Call{Fn: f, Args: args, T: t, At: at}, err
	case m.Value != nil:
		v, err := columns.Decode(m.Value, shape([]types.Type{t}))
		if err == nil && v.N != 1 {
			err = fmt.Errorf("a literal of %d values", v.N)
		}
		if err != nil {
			return nil, err
		}
		return &expr.Literal{T: t, Value: v.Cols[0], At: at, Text: m.Text}, nil
	}
	return &expr.Input{Index: int(m.Index), Name: m.Text, T: t, At: at}, nil
}
