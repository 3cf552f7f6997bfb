package ast

import "strconv"

func (n *StringLiteral) write(w *writer) {
	prefix := ""
	if n.Charset != "" {
		prefix = "_" + n.Charset
	}
	w.t(prefix + QuoteString(n.Value))
}

func (n *NumberLiteral) write(w *writer)  { w.t(n.Text) }
func (n *BinaryLiteral) write(w *writer)  { w.t("X'" + n.Hex + "'") }
func (n *BooleanLiteral) write(w *writer) { w.t(string(n.Value)) }
func (n *NullLiteral) write(w *writer)    { w.t("NULL") }
func (n *Symbol) write(w *writer)         { w.t(n.Word) }

func (n *DateTimeLiteral) write(w *writer) {
	w.t(n.Kind)
	n.Value.write(w)
}

func (n *IntervalLiteral) write(w *writer) {
	w.t("INTERVAL")
	if n.Negative {
		w.t("-")
		w.tight = true
	}
	n.Value.write(w)
	n.Qualifier.write(w)
}

func (n *IntervalQualifier) write(w *writer) {
	w.t(n.From)
	switch {
	case n.From == "SECOND" && n.Fraction >= 0 && n.Precision >= 0:
		w.g("(" + strconv.Itoa(n.Precision) + ", " + strconv.Itoa(n.Fraction) + ")")
		return
	default:
		w.number(n.Precision)
	}
	if n.To != "" {
		w.t("TO", n.To)
		w.number(n.Fraction)
	}
}

func (n *Identifier) write(w *writer) { w.dotted(n.Parts) }

func (n *Star) write(w *writer) {
	if len(n.Qualifier) == 0 {
		w.t("*")
		return
	}
	w.dotted(n.Qualifier)
	w.g(".*")
}

func (n *Parameter) write(w *writer) { w.t("?") }

func (n *Unary) write(w *writer) {
	w.t(string(n.Op))
	if inner, ok := n.Operand.(*Unary); ok && n.Op != Not && inner.Op != Not {
		w.glue("(") // -(-x), as -- starts a comment
		inner.write(w)
		w.g(")")
		return
	}
	w.tight = n.Op == Negate || n.Op == Plus
	w.expr(n.Operand, n.Op.Bind())
}

func (n *Binary) write(w *writer) {
	bind := n.Op.Bind()
	w.expr(n.Left, bind)
	w.t(string(n.Op))
	w.expr(n.Right, bind+1)
}

func (n *Difference) write(w *writer) {
	w.open()
	w.expr(n.Left, BindAdd)
	w.t("-")
	w.expr(n.Right, BindAdd+1)
	w.g(")")
	n.Qualifier.write(w)
}

func (n *Is) write(w *writer) {
	w.expr(n.Operand, BindIs)
	w.t("IS")
	w.when(n.Not, "NOT")
	w.t(n.Test)
}

func (n *Between) write(w *writer) {
	w.expr(n.Operand, BindBetween)
	w.when(n.Not, "NOT")
	w.t("BETWEEN")
	w.when(n.Symmetric, "SYMMETRIC")
	w.expr(n.Low, BindBetween+1)
	w.t("AND")
	w.expr(n.High, BindBetween+1)
}

func (n *Like) write(w *writer) {
	w.expr(n.Operand, BindBetween)
	w.when(n.Not, "NOT")
	w.t(n.Kind)
	w.expr(n.Pattern, BindBetween+1)
	if n.Escape != nil {
		w.t("ESCAPE")
		w.expr(n.Escape, BindBetween+1)
	}
}

// listOrQuery writes what stands in the parentheses of IN and SOME.
func (w *writer) listOrQuery(items []Expr, q *Query) {
	if q != nil {
		w.query(q)
		return
	}
	parens(w, items)
}

func (n *In) write(w *writer) {
	w.expr(n.Operand, BindBetween)
	w.when(n.Not, "NOT")
	w.t("IN")
	w.listOrQuery(n.List, n.Query)
}

func (n *Quantified) write(w *writer) {
	w.expr(n.Operand, BindCompare)
	w.t(string(n.Op))
	w.when(n.All, "ALL")
	w.when(!n.All, "SOME")
	w.listOrQuery(n.List, n.Query)
}

func (n *Exists) write(w *writer) {
	w.t("EXISTS")
	w.query(n.Query)
}

func (n *Subquery) write(w *writer) { w.query(n.Query) }

func (n *Case) write(w *writer) {
	w.t("CASE")
	w.clause(n.Operand)
	for _, b := range n.Whens {
		b.write(w)
	}
	w.clause(n.Else, "ELSE")
	w.t("END")
}

func (n *When) write(w *writer) {
	w.t("WHEN")
	list(w, n.Conditions)
	w.t("THEN")
	n.Result.write(w)
}

func (n *Cast) write(w *writer) {
	w.when(n.Try, "TRY_CAST")
	w.when(!n.Try, "CAST")
	w.glue("(")
	n.Operand.write(w)
	w.t("AS")
	n.Type.write(w)
	w.clause(n.Format, "FORMAT")
	w.g(")")
}

func (n *Row) write(w *writer) {
	w.when(n.Explicit, "ROW")
	w.when(n.Period, "PERIOD")
	w.tight = n.Explicit || w.tight
	parens(w, n.Elements)
}

func (n *Collection) write(w *writer) {
	w.t(n.Kind)
	if n.Query != nil {
		w.query(n.Query)
		return
	}
	w.glue("[")
	list(w, n.Elements)
	w.g("]")
}

func (n *Map) write(w *writer) {
	w.t("MAP")
	if n.Query != nil {
		w.query(n.Query)
		return
	}
	w.glue("[")
	list(w, n.Entries)
	w.g("]")
}

func (n *Index) write(w *writer) {
	w.expr(n.Operand, bindPrimary)
	w.glue("[")
	if n.Mode != "" {
		w.t(n.Mode)
		w.glue("(")
	}
	n.Index.write(w)
	if n.Mode != "" {
		w.g(")")
	}
	w.g("]")
}

func (n *Field) write(w *writer) {
	switch n.Operand.(type) {
	case *Identifier, *NumberLiteral, *Star:
		// a.b would be one path, and 1.b no number.
		w.open()
		n.Operand.write(w)
		w.g(")")
	default:
		w.expr(n.Operand, bindPrimary)
	}
	w.glue(".")
	w.name(n.Name)
}

func (n *IntervalOf) write(w *writer) {
	w.t("INTERVAL")
	switch n.Operand.(type) {
	case *Identifier, *NumberLiteral, *Parameter:
		n.Operand.write(w)
	default:
		w.open()
		n.Operand.write(w)
		w.g(")")
	}
	n.Qualifier.write(w)
}
