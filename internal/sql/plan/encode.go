package plan

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/codec/columns"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan/pb"
	"github.com/weirstream/weir/types"
)

// Encode gives the job's bytes; the same job has the same bytes.
func (j *Job) Encode() []byte {
	e := encoder{ids: map[Node]uint32{}}
	m := &pb.Job{Name: j.Name, Statement: j.Statement, Batch: j.Batch, Settings: j.Settings, Session: sessionMessage(j.Session)}
	for _, s := range j.Sinks {
		m.Sinks = append(m.Sinks, e.node(s))
	}
	m.Nodes = e.nodes
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	invariant.Check(err == nil, "a plan can be written: %v", err)
	return text
}

func sessionMessage(s *expr.Session) *pb.Session {
	if s == nil {
		s = expr.UTC
	}
	m := &pb.Session{
		Zone: s.Zone.String(), NowSeconds: s.Now.Unix(), NowNanos: int32(s.Now.Nanosecond()), LegacyCast: s.LegacyCast,
		Database: s.Database, Streaming: s.Streaming,
	}
	if _, err := time.LoadLocation(m.Zone); err != nil {
		_, offset := s.Now.In(s.Zone).Zone()
		m.Fixed, m.Offset = true, int32(offset)
	}
	return m
}

// encoder numbers nodes, inputs first.
type encoder struct {
	ids   map[Node]uint32
	nodes []*pb.Node
}

func (e *encoder) node(n Node) uint32 {
	if id, known := e.ids[n]; known {
		return id
	}
	b := n.Common()
	m := &pb.Node{Name: b.Name, Schema: fieldMessages(b.Schema), Parallelism: int32(b.Parallelism)}
	for _, in := range b.Inputs {
		m.Inputs = append(m.Inputs, e.node(in))
	}
	describe(m, n)
	id := uint32(len(e.nodes))
	e.ids[n], e.nodes = id, append(e.nodes, m)
	return id
}

// describe fills in what is special about a kind of node.
func describe(m *pb.Node, n Node) {
	switch n := n.(type) {
	case *Values:
		v := &pb.Values{}
		for _, b := range n.Rows {
			v.Rows = append(v.Rows, columns.Append(nil, b))
		}
		m.What = &pb.Node_Values{Values: v}
	case *Scan:
		m.What = &pb.Node_Scan{Scan: &pb.Scan{Table: n.Table, Connector: n.Connector, Options: n.Options, Columns: fieldMessages(n.Columns),
			Fields: numbers(n.Fields), Filter: exprMessage(n.Filter), Limit: n.Limit, PartitionKeys: n.PartitionKeys}}
	case *Calc:
		m.What = &pb.Node_Calc{Calc: &pb.Calc{Filter: exprMessage(n.Filter), Project: exprMessages(n.Project), Projects: n.Project != nil}}
	case *Exchange:
		m.What = &pb.Node_Exchange{Exchange: &pb.Exchange{Distribution: int32(n.Distribution), Keys: numbers(n.Keys)}}
	case *Aggregate:
		a := &pb.Aggregate{Phase: int32(n.Phase), Keys: numbers(n.Keys), Sorted: n.Sorted}
		for i := range n.Calls {
			a.Calls = append(a.Calls, callMessage(&n.Calls[i]))
		}
		m.What = &pb.Node_Aggregate{Aggregate: a}
	case *Join:
		m.What = &pb.Node_Join{Join: &pb.Join{Kind: int32(n.Kind), Strategy: int32(n.Strategy), LeftKeys: numbers(n.LeftKeys), RightKeys: numbers(n.RightKeys),
			NullSafe: n.NullSafe, Condition: exprMessage(n.Condition), NullAware: n.NullAware, BuildLeft: n.BuildLeft}}
	case *Sort:
		m.What = &pb.Node_Sort{Sort: &pb.Sort{Keys: sortMessages(n.Keys), Offset: n.Offset, Fetch: n.Fetch}}
	case *Limit:
		m.What = &pb.Node_Limit{Limit: &pb.Limit{Offset: n.Offset, Fetch: n.Fetch}}
	case *Union:
		m.What = &pb.Node_Union{Union: &pb.Union{}}
	case *SetOperation:
		m.What = &pb.Node_SetOperation{SetOperation: &pb.SetOperation{Except: n.Except, All: n.All}}
	case *Expand:
		x := &pb.Expand{}
		for _, p := range n.Projects {
			x.Projects = append(x.Projects, &pb.Projection{Exprs: exprMessages(p)})
		}
		m.What = &pb.Node_Expand{Expand: x}
	case *Over:
		o := &pb.Over{Partition: numbers(n.Partition), Order: sortMessages(n.Order)}
		for i := range n.Calls {
			c := &n.Calls[i]
			o.Calls = append(o.Calls, &pb.OverCall{Call: callMessage(&c.AggregateCall), Unit: int32(c.Unit), Start: boundMessage(c.Start), End: boundMessage(c.End)})
		}
		m.What = &pb.Node_Over{Over: o}
	case *Window:
		m.What = &pb.Node_Window{Window: &pb.Window{Kind: int32(n.Kind), Time: int32(n.Time), Size: n.Size, Slide: n.Slide, Offset: n.Offset, Keys: numbers(n.Keys), Zoned: n.Zoned}}
	case *Unnest:
		m.What = &pb.Node_Unnest{Unnest: &pb.Unnest{Collection: exprMessage(n.Collection), Ordinality: n.Ordinality, Outer: n.Outer}}
	case *Match:
		m.What = &pb.Node_Match{Match: matchMessage(n)}
	case *Write:
		m.What = &pb.Node_Write{Write: &pb.Write{Table: n.Table, Connector: n.Connector, Options: n.Options, Columns: fieldMessages(n.Columns),
			PartitionKeys: n.PartitionKeys, Overwrite: n.Overwrite}}
	case *Collect:
		m.What = &pb.Node_Collect{Collect: &pb.Collect{}}
	default:
		invariant.Broken("a plan has no nodes of type %T", n)
	}
}

func matchMessage(n *Match) *pb.Match {
	m := &pb.Match{Partition: numbers(n.Partition), Order: sortMessages(n.Order), Variables: n.Variables, AtFirst: n.AtFirst, AtLast: n.AtLast,
		Skip: int32(n.Skip.Kind), SkipElement: int32(n.Skip.Element), Within: n.Within, Measures: exprMessages(n.Measures)}
	for _, e := range n.Elements {
		m.Elements = append(m.Elements, &pb.Element{Min: int32(e.Min), Max: int32(e.Max), Reluctant: e.Reluctant})
	}
	for _, v := range n.Values {
		to := &pb.MatchValue{Elements: numbers(v.Elements), Column: int32(v.Column), First: v.First, Offset: int32(v.Offset), Time: v.Time,
			Type: typeMessage(v.Type), Args: exprMessages(v.Args)}
		if v.Call.Function != "" {
			to.Call = callMessage(&v.Call)
		}
		m.Values = append(m.Values, to)
	}
	for _, c := range n.Conditions {
		m.Conditions = append(m.Conditions, &pb.MatchCondition{Condition: exprMessage(c)})
	}
	return m
}

func numbers(all []int) []int32 {
	var out []int32
	for _, n := range all {
		out = append(out, int32(n))
	}
	return out
}

func callMessage(c *AggregateCall) *pb.AggregateCall {
	m := &pb.AggregateCall{Function: c.Function, Args: numbers(c.Args), Filter: int32(c.Filter), Distinct: c.Distinct,
		IgnoreNulls: c.IgnoreNulls, Type: typeMessage(c.Type)}
	for _, t := range c.ArgTypes {
		m.ArgTypes = append(m.ArgTypes, typeMessage(t))
	}
	return m
}

func sortMessages(keys []SortKey) []*pb.SortKey {
	var out []*pb.SortKey
	for _, k := range keys {
		out = append(out, &pb.SortKey{Column: int32(k.Column), Descending: k.Descending, NullsLast: k.NullsLast})
	}
	return out
}

func boundMessage(b Bound) *pb.Bound {
	return &pb.Bound{Kind: int32(b.Kind), Offset: b.Offset, Double: b.Double}
}

func fieldMessages(fields []types.Field) []*pb.Field {
	var out []*pb.Field
	for _, f := range fields {
		out = append(out, &pb.Field{Name: f.Name, Type: typeMessage(f.Type), Comment: f.Comment})
	}
	return out
}

func typeMessage(t types.Type) *pb.Type {
	m := &pb.Type{Kind: int32(t.Kind), Nullable: t.Nullable, Length: int32(t.Length), Precision: int32(t.Precision), Scale: int32(t.Scale),
		Resolution: int32(t.Resolution), Fields: fieldMessages(t.Fields), Name: t.Name, Time: int32(t.Time)}
	if t.Elem != nil {
		m.Elem = typeMessage(*t.Elem)
	}
	if t.Key != nil {
		m.Key = typeMessage(*t.Key)
	}
	return m
}

func exprMessages(all []expr.Expr) []*pb.Expr {
	var out []*pb.Expr
	for _, e := range all {
		out = append(out, exprMessage(e))
	}
	return out
}

// exprMessage writes an expression; nil stays nil.
func exprMessage(e expr.Expr) *pb.Expr {
	if e == nil {
		return nil
	}
	at := e.Span()
	m := &pb.Expr{Type: typeMessage(e.Type()), Start: int32(at.Start), End: int32(at.End)}
	switch e := e.(type) {
	case *expr.Literal:
		m.Text = e.Text
		m.Value = columns.Append(nil, &batch.Columns{N: 1, Cols: []*batch.Column{e.Value}})
	case *expr.Input:
		m.Index, m.Text = int32(e.Index), e.Name
	case *expr.Call:
		m.Function, m.Args = e.Fn.Name, exprMessages(e.Args)
	default:
		invariant.Broken("a plan has no expressions of type %T", e)
	}
	return m
}
