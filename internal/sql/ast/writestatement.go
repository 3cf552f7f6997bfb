package ast

func (n *Insert) write(w *writer) {
	switch {
	case n.Upsert:
		w.t("UPSERT", "INTO")
	case n.Overwrite:
		w.t("INSERT", "OVERWRITE")
	default:
		w.t("INSERT", "INTO")
	}
	n.Table.write(w)
	w.hints(n.Hints)
	if n.Partition != nil {
		n.Partition.write(w)
	}
	w.inParens(n.Columns)
	n.Query.write(w)
	w.when(n.OnConflict != "", "ON", "CONFLICT", "DO", n.OnConflict)
}

// alias writes AS name, or nothing.
func (w *writer) alias(n *Name) {
	if n != nil {
		w.t("AS")
		w.name(*n)
	}
}

func (n *Update) write(w *writer) {
	w.t("UPDATE")
	n.Table.write(w)
	w.hints(n.Hints)
	w.alias(n.Alias)
	w.t("SET")
	list(w, n.Assignments)
	w.clause(n.Where, "WHERE")
}

func (n *Assignment) write(w *writer) {
	n.Column.write(w)
	w.t("=")
	n.Value.write(w)
}

func (n *Delete) write(w *writer) {
	w.t("DELETE", "FROM")
	n.Table.write(w)
	w.hints(n.Hints)
	w.alias(n.Alias)
	w.clause(n.Where, "WHERE")
}

func (n *Merge) write(w *writer) {
	w.t("MERGE", "INTO")
	n.Table.write(w)
	w.alias(n.Alias)
	w.t("USING")
	w.relation(n.Source, 5)
	w.t("ON")
	n.Condition.write(w)
	if len(n.Update) > 0 {
		w.t("WHEN", "MATCHED", "THEN", "UPDATE", "SET")
		list(w, n.Update)
	}
	if len(n.InsertValues) > 0 {
		w.t("WHEN", "NOT", "MATCHED", "THEN", "INSERT")
		w.inParens(n.InsertColumns)
		w.t("VALUES")
		parens(w, n.InsertValues)
	}
}

func (n *StatementSet) write(w *writer) {
	w.t("STATEMENT", "SET", "BEGIN")
	for _, i := range n.Inserts {
		i.write(w)
		w.g(";")
	}
	w.t("END")
}

func (n *Execute) write(w *writer) {
	w.t("EXECUTE")
	n.Statement.write(w)
}

func (n *BeginStatementSet) write(w *writer) { w.t("BEGIN", "STATEMENT", "SET") }
func (n *EndStatementSet) write(w *writer)   { w.t("END") }

func (n *CompilePlan) write(w *writer) {
	w.t("COMPILE")
	w.when(n.Execute, "AND", "EXECUTE")
	w.text(n.File, "PLAN")
	w.when(n.IfNotExists, "IF NOT EXISTS")
	w.t("FOR")
	n.Statement.write(w)
}

func (n *ExecutePlan) write(w *writer) { w.text(n.File, "EXECUTE", "PLAN") }

func (n *Truncate) write(w *writer) {
	w.t("TRUNCATE", "TABLE")
	n.Table.write(w)
}

func (n *Analyze) write(w *writer) {
	w.t("ANALYZE", "TABLE")
	n.Table.write(w)
	if n.Partition != nil {
		n.Partition.write(w)
	}
	w.t("COMPUTE", "STATISTICS")
	w.when(n.AllColumns, "FOR", "ALL", "COLUMNS")
	if len(n.Columns) > 0 {
		w.t("FOR", "COLUMNS")
		w.names(n.Columns)
	}
}

func (n *CallProcedure) write(w *writer) {
	w.t("CALL")
	n.Call.write(w)
}

func (n *Show) write(w *writer) {
	w.t("SHOW", n.What, n.Preposition)
	if n.In != nil {
		n.In.write(w)
	}
	w.when(n.NotLike, "NOT")
	w.text(n.Like, n.LikeKind)
}

func (n *ShowCreate) write(w *writer) {
	w.t("SHOW", "CREATE", string(n.Kind))
	n.Name.write(w)
}

func (n *ShowPartitions) write(w *writer) {
	w.t("SHOW", "PARTITIONS")
	n.Table.write(w)
	if n.Partition != nil {
		n.Partition.write(w)
	}
}

func (n *Describe) write(w *writer) {
	w.t("DESCRIBE")
	switch {
	case n.Query != nil:
		n.Query.write(w)
		return
	case n.Job != nil:
		w.text(n.Job, "JOB")
		return
	}
	w.when(n.Kind != KindTable, string(n.Kind))
	w.when(n.Extended, "EXTENDED")
	n.Name.write(w)
}

func (n *Explain) write(w *writer) {
	w.t("EXPLAIN")
	w.when(n.PlanFor, "PLAN", "FOR")
	for i, d := range n.Details {
		if i > 0 {
			w.g(",")
		}
		w.t(d)
	}
	n.Statement.write(w)
}

func (n *CheckTable) write(w *writer) {
	w.t("CHECK", "TABLE")
	n.Table.write(w)
}

func (n *Use) write(w *writer) {
	w.t("USE")
	w.when(n.Kind == KindCatalog, "CATALOG")
	n.Name.write(w)
}

func (n *UseModules) write(w *writer) {
	w.t("USE", "MODULES")
	w.names(n.Modules)
}

func (n *LoadModule) write(w *writer) {
	w.t("LOAD", "MODULE")
	w.name(n.Name)
	w.options(n.With, n.Options)
}

func (n *UnloadModule) write(w *writer) {
	w.t("UNLOAD", "MODULE")
	w.name(n.Name)
}

func (n *Set) write(w *writer) {
	w.t("SET")
	if n.Key != nil {
		n.Key.write(w)
		w.text(n.Value, "=")
	}
}

func (n *Reset) write(w *writer) {
	w.t("RESET")
	w.text(n.Key)
}

func (n *Jar) write(w *writer) {
	w.when(n.Remove, "REMOVE")
	w.when(!n.Remove, "ADD")
	w.text(n.Path, "JAR")
}

func (n *StopJob) write(w *writer) {
	w.text(n.Job, "STOP", "JOB")
	w.when(n.Savepoint, "WITH", "SAVEPOINT")
	w.when(n.Drain, "WITH", "DRAIN")
}

func (n *Command) write(w *writer) {
	w.t(n.Word)
	w.text(n.Argument)
}
