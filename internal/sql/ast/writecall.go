package ast

import "slices"

func (n *Call) write(w *writer) {
	if len(n.Name.Parts) == 1 && n.plain() && n.writeForm(w) {
		return
	}
	n.writeName(w)
	w.glue("(")
	w.t(string(n.Quantifier))
	list(w, n.Args)
	if len(n.OrderBy) > 0 {
		w.t("ORDER", "BY")
		list(w, n.OrderBy)
	}
	w.g(")")
	n.writeTail(w)
}

// plain says whether the call has arguments only.
func (n *Call) plain() bool {
	a := &n.Aggregation
	return a.Quantifier == "" && a.OrderBy == nil && a.Nulls == "" && a.WithinGroup == nil && a.WithinDistinct == nil &&
		a.Filter == nil && a.Over == nil
}

// writeName writes the function's name: reserved words that are functions need no
// quotes, unless they have a syntax of their own.
func (n *Call) writeName(w *writer) {
	if len(n.Name.Parts) == 1 {
		s := n.Name.Parts[0].Text
		switch k := LookUp(s); k.Word {
		case "FLOOR", "CEIL", "CEILING":
		default:
			if k.IsFunction() || w.flink && QuoteName(s) == s {
				w.t(s)
				return
			}
		}
	}
	n.Name.write(w)
}

// writeForm writes a call that has keywords or no parentheses, and reports
// whether the call is one.
func (n *Call) writeForm(w *writer) bool {
	k := LookUp(n.Name.Parts[0].Text)
	between, ok := n.keywords(k.Word)
	switch {
	case k.IsNiladic() && len(n.Args) == 0:
		w.t(n.Name.Parts[0].Text)
		return true
	case !ok:
		return false
	}
	w.t(n.Name.Parts[0].Text)
	w.glue("(")
	for i, a := range n.Args {
		switch {
		case i == 0:
		case between[i-1] == ",":
			w.g(",")
		default:
			w.t(between[i-1])
		}
		if k.Word == "POSITION" && i == 0 {
			w.expr(a, BindBetween+1)
			continue
		}
		a.write(w)
	}
	w.g(")")
	return true
}

// keywords gives what stands between the arguments of a special form, and whether
// the call has that form's arguments.
func (n *Call) keywords(word string) (between []string, ok bool) {
	count := len(n.Args)
	symbol := func(i int) bool {
		if i >= count {
			return false
		}
		_, ok := n.Args[i].(*Symbol)
		return ok
	}
	switch word {
	case "EXTRACT":
		return []string{"FROM"}, count == 2 && symbol(0)
	case "FLOOR", "CEIL", "CEILING":
		return []string{"TO"}, count == 1 && !symbol(0) || count == 2 && symbol(1)
	case "TIMESTAMPADD", "TIMESTAMPDIFF":
		return []string{",", ","}, count == 3 && symbol(0)
	case "TRIM":
		return []string{"", "FROM"}, count == 3 && symbol(0)
	case "SUBSTRING":
		return []string{",", ","}, count == 2 || count == 3
	case "POSITION":
		return []string{"IN", "FROM"}, count == 2 || count == 3
	case "OVERLAY":
		return []string{"PLACING", "FROM", "FOR"}, count == 3 || count == 4
	case "TRANSLATE", "CONVERT":
		if count == 2 && symbol(1) {
			return []string{"USING"}, true
		}
		return slices.Repeat([]string{","}, max(count, 1)), count > 0
	}
	return nil, false
}

// writeTail writes what follows the parenthesis of an aggregate.
func (a *Aggregation) writeTail(w *writer) {
	w.t(a.Nulls)
	if len(a.WithinDistinct) > 0 {
		w.t("WITHIN", "DISTINCT")
		parens(w, a.WithinDistinct)
	}
	if len(a.WithinGroup) > 0 {
		w.t("WITHIN", "GROUP")
		w.open()
		w.t("ORDER", "BY")
		list(w, a.WithinGroup)
		w.g(")")
	}
	if a.Filter != nil {
		w.t("FILTER")
		w.open()
		w.t("WHERE")
		a.Filter.write(w)
		w.g(")")
	}
	if a.Over != nil {
		w.t("OVER")
		a.Over.write(w)
	}
}

func (n *NamedArgument) write(w *writer) {
	w.name(n.Name)
	w.t("=>")
	if n.Value == nil {
		w.t("DEFAULT")
		return
	}
	n.Value.write(w)
}

func (n *Default) write(w *writer) { w.t("DEFAULT") }

func (n *TableArgument) write(w *writer) {
	switch t := n.Table.(type) {
	case *DerivedTable:
	case *FunctionTable:
		w.when(!t.Wrapped, "TABLE")
	case *Aliased:
		if f, ok := t.Relation.(*FunctionTable); !ok || !f.Wrapped {
			w.t("TABLE")
		}
	default:
		w.t("TABLE")
	}
	n.Table.write(w)
	switch len(n.PartitionBy) {
	case 0:
	case 1:
		w.t("PARTITION", "BY")
		n.PartitionBy[0].write(w)
	default:
		w.t("PARTITION", "BY")
		parens(w, n.PartitionBy)
	}
	if len(n.OrderBy) > 0 {
		w.t("ORDER", "BY")
		parens(w, n.OrderBy)
	}
}

func (n *ModelArgument) write(w *writer) {
	w.t("MODEL")
	n.Name.write(w)
}

func (n *Descriptor) write(w *writer) {
	w.t("DESCRIPTOR")
	w.tight = true
	w.inParens(n.Columns)
}

// behaviour writes a behaviour and when it is asked for.
func (w *writer) behaviour(b *JSONBehaviour, on string) {
	if b != nil {
		b.write(w)
		w.t("ON", on)
	}
}

func (n *JSONBehaviour) write(w *writer) {
	w.t(n.Kind)
	w.clause(n.Default)
}

// json writes a function's name, input and path.
func (w *writer) json(name string, input, path Expr) {
	w.t(name)
	w.glue("(")
	input.write(w)
	w.g(",")
	path.write(w)
}

func (n *JSONExists) write(w *writer) {
	w.json("JSON_EXISTS", n.Input, n.Path)
	w.behaviour(n.OnError, "ERROR")
	w.g(")")
}

// returning writes RETURNING type, or nothing.
func (w *writer) returning(t DataType) {
	if t != nil {
		w.t("RETURNING")
		t.write(w)
	}
}

func (n *JSONValue) write(w *writer) {
	w.json("JSON_VALUE", n.Input, n.Path)
	w.returning(n.Returning)
	w.behaviour(n.OnEmpty, "EMPTY")
	w.behaviour(n.OnError, "ERROR")
	w.g(")")
}

func (n *JSONQuery) write(w *writer) {
	w.json("JSON_QUERY", n.Input, n.Path)
	w.returning(n.Returning)
	w.when(n.Wrapper != "", n.Wrapper, "WRAPPER")
	w.behaviour(n.OnEmpty, "EMPTY")
	w.behaviour(n.OnError, "ERROR")
	w.g(")")
}

func (n *JSONObject) write(w *writer) {
	w.when(n.Aggregate, "JSON_OBJECTAGG")
	w.when(!n.Aggregate, "JSON_OBJECT")
	w.glue("(")
	list(w, n.Entries)
	w.when(n.OnNull != "", n.OnNull, "ON", "NULL")
	w.g(")")
	n.writeTail(w)
}

func (n *JSONEntry) write(w *writer) {
	w.t("KEY")
	n.Key.write(w)
	w.t("VALUE")
	n.Value.write(w)
	w.when(n.Format, "FORMAT", "JSON")
}

func (n *JSONArray) write(w *writer) {
	w.when(n.Aggregate, "JSON_ARRAYAGG")
	w.when(!n.Aggregate, "JSON_ARRAY")
	w.glue("(")
	list(w, n.Elements)
	if len(n.OrderBy) > 0 {
		w.t("ORDER", "BY")
		list(w, n.OrderBy)
	}
	w.when(n.OnNull != "", n.OnNull, "ON", "NULL")
	w.g(")")
	n.writeTail(w)
}

func (n *JSONElement) write(w *writer) {
	n.Value.write(w)
	w.when(n.Format, "FORMAT", "JSON")
}
