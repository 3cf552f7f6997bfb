package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/estimate"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// explain tells how a statement would be carried out.
func (st *statement) explain(e *ast.Explain) (*session.Result, error) {
	sinks, err := st.explained(e.Statement)
	if err != nil {
		return nil, err
	}
	if err := st.connected(sinks...); err != nil {
		return nil, err
	}
	var tree, optimized strings.Builder
	roots := make([]logical.Node, len(sinks))
	for i, s := range sinks {
		if i > 0 {
			tree.WriteString("\n")
			optimized.WriteString("\n")
		}
		roots[i] = s
		var shown logical.Node = s
		if s.Table == nil {
			shown = s.Input
		}
		tree.WriteString(logical.Text(shown))
		roots[i] = st.optimized(s)
		if shown = roots[i]; s.Table == nil {
			shown = roots[i].Inputs()[0]
		}
		optimized.WriteString(st.costed(shown, e.Details))
	}
	text := "== Abstract Syntax Tree ==\n" + tree.String() + "\n== Optimized Physical Plan ==\n" + optimized.String()
	var job []plan.Node
	if st.bounded() || allStream(roots) {
		for _, r := range roots {
			root, err := st.physical(r.(*logical.Sink))
			if err != nil {
				return nil, err
			}
			job = append(job, root)
		}
		if st.bounded() {
			job = st.shared(job)
		}
		text += "\n== Optimized Execution Plan ==\n" + planText(job)
	}
	if slices.Contains(e.Details, "JSON_EXECUTION_PLAN") {
		if job == nil {
			return nil, refused(session.ClassTable, "JSON_EXECUTION_PLAN shows the job, and this statement has none as a stream: SET 'execution.runtime-mode' = 'batch'")
		}
		text += "\n== Physical Execution Plan ==\n" + planJSON(job)
	}
	return told([]types.Field{column("result", types.String())}, []any{text}), nil
}

// costed draws a tree, if ESTIMATED_COST is among the details with how many rows each
// operator is likely to give.
func (st *statement) costed(n logical.Node, details []string) string {
	if !slices.Contains(details, "ESTIMATED_COST") {
		return logical.Text(n)
	}
	rows := estimate.New(st.rows)
	return logical.Noted(n, func(n logical.Node) string { return fmt.Sprintf(": rowcount = %.0f", rows.Rows(n)) })
}

// allStream reports whether plans can run as streams.
func allStream(roots []logical.Node) bool {
	for _, r := range roots {
		if streams(r.(*logical.Sink)) != nil {
			return false
		}
	}
	return true
}

// explained binds the statement of an EXPLAIN.
func (st *statement) explained(s ast.Statement) ([]*logical.Sink, error) {
	switch s := s.(type) {
	case *ast.Query:
		bound, err := bind.Query(st.binding(), s)
		return []*logical.Sink{{Input: bound}}, err
	case *ast.Insert:
		sink, err := bind.Insert(st.binding(), s)
		return []*logical.Sink{sink}, err
	case *ast.StatementSet:
		return st.sinks(s)
	case *ast.Execute:
		return st.explained(s.Statement)
	case *ast.CreateTable:
		if s.As != nil {
			_, _, sink, err := st.tableAs(s)
			return []*logical.Sink{sink}, err
		}
	}
	return nil, expr.Refuse(s.Range(), "EXPLAIN takes a query, an INSERT, a STATEMENT SET or CREATE TABLE … AS")
}

// numbered gives the operators of a job, inputs first; one with several consumers comes
// once.
func numbered(roots []plan.Node) (all []plan.Node, ids map[plan.Node]int) {
	ids = map[plan.Node]int{}
	var visit func(n plan.Node)
	visit = func(n plan.Node) {
		if ids[n] > 0 {
			return
		}
		for _, in := range n.Common().Inputs {
			visit(in)
		}
		all = append(all, n)
		ids[n] = len(all)
	}
	for _, r := range roots {
		visit(r)
	}
	return all, ids
}

// planText draws a job as trees of operators.
func planText(roots []plan.Node) string {
	var b strings.Builder
	_, ids := numbered(roots)
	seen := map[plan.Node]bool{}
	var draw func(n plan.Node, first, rest string)
	draw = func(n plan.Node, first, rest string) {
		if seen[n] {
			fmt.Fprintf(&b, "%sReused(reference_id=[%d])\n", first, ids[n])
			return
		}
		seen[n] = true
		b.WriteString(first + operatorText(n) + "\n")
		inputs := n.Common().Inputs
		for i, in := range inputs {
			if i < len(inputs)-1 {
				draw(in, rest+":- ", rest+":  ")
			} else {
				draw(in, rest+"+- ", rest+"   ")
			}
		}
	}
	for i, r := range roots {
		if i > 0 {
			b.WriteString("\n")
		}
		draw(r, "", "")
	}
	return b.String()
}

// operatorText is an operator on one line.
func operatorText(n plan.Node) string {
	kind := strings.TrimPrefix(fmt.Sprintf("%T", n), "*plan.")
	var names []string
	for _, f := range n.Common().Schema {
		names = append(names, f.Name)
	}
	details := ""
	switch n := n.(type) {
	case *plan.Scan:
		details = "table=[" + n.Table + "], "
	case *plan.Write:
		details = "table=[" + n.Table + "], "
	case *plan.Exchange:
		details = fmt.Sprintf("distribution=[%s], ", distribution(n))
	case *plan.Calc:
		if n.Filter != nil {
			details = "where=[" + n.Filter.String() + "], "
		}
	}
	return kind + "(" + details + "fields=[" + strings.Join(names, ", ") + "])"
}

func distribution(n *plan.Exchange) string {
	switch n.Distribution {
	case plan.Single:
		return "single"
	case plan.Broadcast:
		return "broadcast"
	case plan.Hash:
		var keys []string
		for _, k := range n.Keys {
			keys = append(keys, n.Schema[k].Name)
		}
		return "hash[" + strings.Join(keys, ", ") + "]"
	}
	return "any"
}

// planJSON writes a job as Flink's clients read it: nodes with what comes before them.
func planJSON(roots []plan.Node) string {
	type before struct {
		ID   int    `json:"id"`
		Ship string `json:"ship_strategy"`
		Side string `json:"side"`
	}
	type node struct {
		ID           int      `json:"id"`
		Type         string   `json:"type"`
		Pact         string   `json:"pact"`
		Contents     string   `json:"contents"`
		Predecessors []before `json:"predecessors,omitempty"`
	}
	all, ids := numbered(roots)
	nodes := []node{}
	for _, n := range all {
		if _, wire := n.(*plan.Exchange); wire {
			continue
		}
		contents := operatorText(n)
		kind, _, _ := strings.Cut(contents, "(")
		made := node{ID: ids[n], Type: kind, Pact: "Operator", Contents: contents}
		switch n.(type) {
		case *plan.Scan, *plan.Values:
			made.Pact = "Data Source"
		case *plan.Write, *plan.Collect:
			made.Pact = "Data Sink"
		}
		for _, in := range n.Common().Inputs {
			ship := "FORWARD"
			if x, ok := in.(*plan.Exchange); ok {
				ship, in = strings.ToUpper(strings.SplitN(distribution(x), "[", 2)[0]), x.Inputs[0]
			}
			made.Predecessors = append(made.Predecessors, before{ids[in], ship, "second"})
		}
		nodes = append(nodes, made)
	}
	text, err := json.MarshalIndent(map[string]any{"nodes": nodes}, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}
