package ast

import "strconv"

// stage says how late in FROM a relation's own part comes; a part can only follow
// a relation of an earlier stage, or one in parentheses.
func stage(r Relation) int {
	switch r := r.(type) {
	case *Snapshot:
		return 1
	case *MatchRecognize:
		return 2
	case *Aliased:
		return 3
	case *Sampled:
		return 4
	case *Join:
		if r.Kind == CommaJoin {
			return 6
		}
		return 5
	}
	return 0
}

// relation writes a relation that must be of an earlier stage.
func (w *writer) relation(r Relation, before int) {
	if stage(r) < before {
		r.write(w)
		return
	}
	w.open()
	r.write(w)
	w.g(")")
}

func (n *TableName) write(w *writer) {
	n.Name.write(w)
	w.hints(n.Hints)
}

func (n *DerivedTable) write(w *writer) {
	w.when(n.Lateral, "LATERAL")
	w.query(n.Query)
}

func (n *FunctionTable) write(w *writer) {
	w.when(n.Lateral, "LATERAL")
	if !n.Wrapped {
		n.Call.write(w)
		return
	}
	w.t("TABLE")
	w.glue("(")
	n.Call.write(w)
	w.g(")")
}

func (n *Unnest) write(w *writer) {
	w.when(n.Lateral, "LATERAL")
	w.t("UNNEST")
	w.glue("(")
	list(w, n.Args)
	w.g(")")
	w.when(n.Ordinality, "WITH", "ORDINALITY")
}

func (n *Aliased) write(w *writer) {
	w.relation(n.Relation, 3)
	w.t("AS")
	w.name(n.Alias)
	w.inParens(n.Columns)
}

func (n *Snapshot) write(w *writer) {
	w.relation(n.Relation, 1)
	w.t("FOR", "SYSTEM_TIME", "AS", "OF")
	n.Time.write(w)
}

func (n *Sampled) write(w *writer) {
	w.relation(n.Relation, 4)
	w.t("TABLESAMPLE", n.Method)
	w.open()
	n.Argument.write(w)
	w.g(")")
	if n.Repeatable != nil {
		w.t("REPEATABLE")
		w.open()
		n.Repeatable.write(w)
		w.g(")")
	}
}

func (n *Join) write(w *writer) {
	if n.Kind == CommaJoin {
		w.relation(n.Left, 7)
		w.g(",")
		w.relation(n.Right, 6)
		return
	}
	w.relation(n.Left, 6)
	w.newLine()
	w.when(n.Natural, "NATURAL")
	w.when(n.Kind != InnerJoin || w.flink, string(n.Kind))
	w.t("JOIN")
	w.relation(n.Right, 5)
	if n.Match != nil {
		w.t("MATCH_CONDITION")
		w.open()
		n.Match.write(w)
		w.g(")")
	}
	w.clause(n.On, "ON")
	if len(n.Using) > 0 {
		w.t("USING")
		w.inParens(n.Using)
	}
}

func (n *MatchRecognize) write(w *writer) {
	w.relation(n.Relation, 2)
	w.t("MATCH_RECOGNIZE")
	w.open()
	if len(n.PartitionBy) > 0 {
		w.t("PARTITION", "BY")
		list(w, n.PartitionBy)
	}
	if len(n.OrderBy) > 0 {
		w.t("ORDER", "BY")
		list(w, n.OrderBy)
	}
	if len(n.Measures) > 0 {
		w.t("MEASURES")
		list(w, n.Measures)
	}
	w.t(n.Rows)
	if n.After != nil {
		n.After.write(w)
	}
	w.t("PATTERN")
	w.open()
	w.when(n.Start, "^")
	n.Pattern.write(w)
	w.when(n.End, "$")
	w.g(")")
	w.clause(n.Within, "WITHIN")
	if len(n.Subsets) > 0 {
		w.t("SUBSET")
		list(w, n.Subsets)
	}
	w.t("DEFINE")
	list(w, n.Define)
	w.g(")")
}

func (n *AfterMatch) write(w *writer) {
	w.t("AFTER", "MATCH", "SKIP", n.Kind)
	if n.Variable != nil {
		w.name(*n.Variable)
	}
}

func (n *PatternSubset) write(w *writer) {
	w.name(n.Name)
	w.t("=")
	w.inParens(n.Members)
}

func (n *PatternDefinition) write(w *writer) {
	w.name(n.Name)
	w.t("AS")
	n.Condition.write(w)
}

// patternStage is 0 for a single pattern, 1 for a repeated one, 2 for a sequence
// and 3 for alternatives.
func patternStage(p Pattern) int {
	switch p.(type) {
	case *PatternRepeat:
		return 1
	case *PatternSequence:
		return 2
	case *PatternAlternation:
		return 3
	}
	return 0
}

// pattern writes a pattern, in parentheses unless its stage is low enough.
func (w *writer) pattern(p Pattern, stage int) {
	if patternStage(p) <= stage {
		p.write(w)
		return
	}
	w.open()
	p.write(w)
	w.g(")")
}

func (n *PatternVariable) write(w *writer) { w.t(QuoteName(n.Name)) }

func (n *PatternSequence) write(w *writer) {
	for _, p := range n.Items {
		w.pattern(p, 1)
	}
}

func (n *PatternAlternation) write(w *writer) {
	for i, p := range n.Items {
		w.when(i > 0, "|")
		w.pattern(p, 2)
	}
}

func (n *PatternRepeat) write(w *writer) {
	w.pattern(n.Pattern, 0)
	switch {
	case n.Min == 0 && n.Max < 0:
		w.g("*")
	case n.Min == 1 && n.Max < 0:
		w.g("+")
	case n.Min == 0 && n.Max == 1:
		w.g("?")
	case n.Min < 0:
		w.g("{," + strconv.Itoa(n.Max) + "}")
	case n.Min == n.Max:
		w.g("{" + strconv.Itoa(n.Min) + "}")
	case n.Max < 0:
		w.g("{" + strconv.Itoa(n.Min) + ",}")
	default:
		w.g("{" + strconv.Itoa(n.Min) + "," + strconv.Itoa(n.Max) + "}")
	}
	if n.Reluctant {
		w.g("?")
	}
}

func (n *PatternExclude) write(w *writer) {
	w.t("{-")
	n.Pattern.write(w)
	w.t("-}")
}

func (n *PatternPermute) write(w *writer) {
	w.t("PERMUTE")
	parens(w, n.Items)
}
