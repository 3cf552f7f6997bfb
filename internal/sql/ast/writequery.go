package ast

func (n *Query) write(w *writer) {
	if len(n.With) > 0 {
		w.t("WITH")
		w.when(n.Recursive, "RECURSIVE")
		list(w, n.With)
	}
	w.body(n.Body, false)
	if len(n.OrderBy) > 0 {
		w.newLine()
		w.t("ORDER", "BY")
		list(w, n.OrderBy)
	}
	w.limit(n.Offset, n.Fetch)
}

// limit writes how many rows are left out and kept.
func (w *writer) limit(offset, fetch Expr) {
	if !w.flink {
		w.clause(fetch, "LIMIT")
		w.clause(offset, "OFFSET")
		return
	}
	if offset != nil {
		w.newLine()
		w.clause(offset, "OFFSET")
		w.t("ROWS")
	}
	if fetch != nil {
		w.newLine()
		w.clause(fetch, "FETCH", "NEXT")
		w.t("ROWS", "ONLY")
	}
}

// part writes a clause on a line of its own, or nothing if there is no node.
func (w *writer) part(n Node, words ...string) {
	if n != nil {
		w.newLine()
		w.clause(n, words...)
	}
}

// body writes a body; a query stands in parentheses, and so does a set operation
// where it is an operand that binds weaker.
func (w *writer) body(b QueryBody, inner bool) {
	if _, ok := b.(*Query); ok || inner {
		w.open()
		b.write(w)
		w.g(")")
		return
	}
	b.write(w)
}

func (n *CommonTable) write(w *writer) {
	w.name(n.Name)
	w.inParens(n.Columns)
	w.t("AS")
	w.query(n.Query)
}

func (n *Select) write(w *writer) {
	w.t("SELECT")
	w.hints(n.Hints)
	w.when(n.Stream, "STREAM")
	w.t(string(n.Quantifier))
	list(w, n.Items)
	w.part(relation(n.From), "FROM")
	w.part(n.Where, "WHERE")
	if n.GroupBy != nil {
		w.newLine()
		n.GroupBy.write(w)
	}
	w.part(n.Having, "HAVING")
	if len(n.Windows) > 0 {
		w.newLine()
		w.t("WINDOW")
		list(w, n.Windows)
	}
	w.part(n.Qualify, "QUALIFY")
}

// relation is a relation as a node, which is nil if the relation is.
func relation(r Relation) Node {
	if r == nil {
		return nil
	}
	return r
}

func (n *SelectItem) write(w *writer) {
	n.Expr.write(w)
	if n.Alias != nil {
		w.t("AS")
		w.name(*n.Alias)
	}
}

// hints writes /*+ … */, or nothing if there are none.
func (w *writer) hints(hints []*Hint) {
	if len(hints) > 0 {
		w.t("/*+")
		list(w, hints)
		w.t("*/")
	}
}

func (n *Hint) write(w *writer) {
	w.name(n.Name)
	if !n.Parens {
		return
	}
	w.glue("(")
	list(w, n.Words)
	list(w, n.Options)
	w.g(")")
}

func (n *HintWord) write(w *writer) {
	if n.Literal != nil {
		n.Literal.write(w)
		return
	}
	w.dotted(n.Names)
}

func (n *GroupBy) write(w *writer) {
	w.t("GROUP", "BY", string(n.Quantifier))
	list(w, n.Items)
}

func (n *GroupingKey) write(w *writer) {
	if n.Set || len(n.Exprs) != 1 {
		parens(w, n.Exprs)
		return
	}
	n.Exprs[0].write(w)
}

func (n *GroupingSets) write(w *writer) {
	w.t(n.Kind)
	parens(w, n.Items)
}

func (n *NamedWindow) write(w *writer) {
	w.name(n.Name)
	w.t("AS")
	n.Window.write(w)
}

func (n *Window) write(w *writer) {
	if !n.Inline {
		w.name(*n.Reference)
		return
	}
	w.open()
	if n.Reference != nil {
		w.name(*n.Reference)
	}
	if len(n.PartitionBy) > 0 {
		w.t("PARTITION", "BY")
		list(w, n.PartitionBy)
	}
	if len(n.OrderBy) > 0 {
		w.t("ORDER", "BY")
		list(w, n.OrderBy)
	}
	if n.Frame != nil {
		n.Frame.write(w)
	}
	if n.AllowPartial != nil {
		w.when(*n.AllowPartial, "ALLOW")
		w.when(!*n.AllowPartial, "DISALLOW")
		w.t("PARTIAL")
	}
	w.g(")")
}

func (n *Frame) write(w *writer) {
	w.t(n.Unit)
	if n.End != nil {
		w.t("BETWEEN")
		n.Start.write(w)
		w.t("AND")
		n.End.write(w)
	} else {
		n.Start.write(w)
	}
	w.when(n.Exclude != "", "EXCLUDE", n.Exclude)
}

func (n *FrameBound) write(w *writer) {
	if n.Offset != nil {
		w.expr(n.Offset, BindAnd+1)
	}
	w.t(string(n.Kind))
}

func (n *OrderItem) write(w *writer) {
	n.Expr.write(w)
	w.when(n.Descending, "DESC")
	w.when(n.Nulls != "", "NULLS", n.Nulls)
}

func (n *SetOperation) write(w *writer) {
	left, ok := n.Left.(*SetOperation)
	w.body(n.Left, ok && n.Kind == "INTERSECT" && left.Kind != "INTERSECT")
	w.newLine()
	w.t(n.Kind, string(n.Quantifier))
	w.newLine()
	right, ok := n.Right.(*SetOperation)
	w.body(n.Right, ok && (n.Kind == "INTERSECT" || right.Kind != "INTERSECT"))
}

func (n *Values) write(w *writer) {
	w.t("VALUES")
	list(w, n.Rows)
}

func (n *ExplicitTable) write(w *writer) {
	w.t("TABLE")
	n.Name.write(w)
}
