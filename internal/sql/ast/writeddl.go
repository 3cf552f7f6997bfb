package ast

// elements writes ( elements ), or nothing.
func (w *writer) elements(written bool, elements []TableElement) {
	if written {
		parens(w, elements)
	}
}

func (n *CreateTable) write(w *writer) {
	switch {
	case n.Replace:
		w.t("REPLACE")
	case n.OrReplace:
		w.t("CREATE", "OR", "REPLACE")
	default:
		w.t("CREATE")
	}
	w.when(n.Temporary, "TEMPORARY")
	w.t("TABLE")
	w.when(n.IfNotExists, "IF NOT EXISTS")
	n.Name.write(w)
	w.elements(n.Parens, n.Elements)
	w.text(n.Comment, "COMMENT")
	w.tablePlace(n.Distribution, n.PartitionBy)
	w.options(n.With, n.Options)
	if n.Like != nil {
		n.Like.write(w)
	}
	w.as(n.As)
}

// tablePlace writes how a table is distributed and partitioned.
func (w *writer) tablePlace(d *Distribution, partition []Name) {
	if d != nil {
		w.t("DISTRIBUTED")
		d.write(w)
	}
	if len(partition) > 0 {
		w.t("PARTITIONED", "BY")
		w.inParens(partition)
	}
}

// as writes AS query, or nothing.
func (w *writer) as(q *Query) {
	if q != nil {
		w.t("AS")
		q.write(w)
	}
}

func (n *Column) write(w *writer) {
	n.Name.write(w)
	w.clause(n.Expr, "AS")
	if n.Type != nil {
		n.Type.write(w)
	}
	if n.Constraint != nil {
		n.Constraint.write(w)
	}
	if n.Kind == MetadataColumn {
		w.t("METADATA")
		w.text(n.MetadataKey, "FROM")
		w.when(n.Virtual, "VIRTUAL")
	}
	w.text(n.Comment, "COMMENT")
	if n.Position != nil {
		n.Position.write(w)
	}
}

func (n *ColumnPosition) write(w *writer) {
	if n.After == nil {
		w.t("FIRST")
		return
	}
	w.t("AFTER")
	n.After.write(w)
}

func (n *Watermark) write(w *writer) {
	w.t("WATERMARK", "FOR")
	n.Column.write(w)
	w.t("AS")
	n.Expr.write(w)
}

func (n *Constraint) write(w *writer) {
	if n.Name != nil {
		w.t("CONSTRAINT")
		w.name(*n.Name)
	}
	w.when(n.Unique, "UNIQUE")
	w.when(!n.Unique, "PRIMARY", "KEY")
	w.inParens(n.Columns)
	if n.Enforced != nil {
		w.when(!*n.Enforced, "NOT")
		w.t("ENFORCED")
	}
}

func (n *Distribution) write(w *writer) {
	if len(n.Columns) > 0 {
		w.t("BY", n.Kind)
		w.inParens(n.Columns)
	}
	if n.Buckets != nil {
		w.t("INTO")
		n.Buckets.write(w)
		w.t("BUCKETS")
	}
}

func (n *TableLike) write(w *writer) {
	w.t("LIKE")
	n.Table.write(w)
	if len(n.Options) == 0 {
		return
	}
	w.open()
	for _, o := range n.Options {
		o.write(w)
	}
	w.g(")")
}

func (n *LikeOption) write(w *writer) { w.t(n.Strategy, n.Feature) }

// create writes CREATE with what may stand before the kind and the name.
func (w *writer) create(temporary, system bool, kind ObjectKind, ifNotExists bool, name Node) {
	w.t("CREATE")
	w.when(temporary, "TEMPORARY")
	w.when(system, "SYSTEM")
	w.t(string(kind))
	w.when(ifNotExists, "IF NOT EXISTS")
	name.write(w)
}

func (n *CreateView) write(w *writer) {
	if n.OrReplace {
		w.t("CREATE", "OR", "REPLACE")
		w.when(n.Temporary, "TEMPORARY")
		w.t("VIEW")
		w.when(n.IfNotExists, "IF NOT EXISTS")
		n.Name.write(w)
	} else {
		w.create(n.Temporary, false, KindView, n.IfNotExists, &n.Name)
	}
	w.inParens(n.Columns)
	w.text(n.Comment, "COMMENT")
	w.as(n.Query)
}

func (n *CreateCatalog) write(w *writer) {
	w.create(false, false, KindCatalog, n.IfNotExists, &n.Name)
	w.text(n.Comment, "COMMENT")
	w.options(n.With, n.Options)
}

func (n *CreateDatabase) write(w *writer) {
	w.create(false, false, KindDatabase, n.IfNotExists, &n.Name)
	w.text(n.Comment, "COMMENT")
	w.options(n.With, n.Options)
}

func (n *CreateFunction) write(w *writer) {
	if n.Alter {
		w.t("ALTER")
		w.when(n.Temporary, "TEMPORARY")
		w.when(n.System, "SYSTEM")
		w.t("FUNCTION")
		w.when(n.IfExists, "IF EXISTS")
		n.Name.write(w)
	} else {
		w.create(n.Temporary, n.System, KindFunction, n.IfNotExists, &n.Name)
	}
	w.text(n.Class, "AS")
	w.when(n.Language != "", "LANGUAGE", n.Language)
	if len(n.Using) > 0 {
		w.t("USING")
		list(w, n.Using)
	}
	w.options(n.With, n.Options)
}

func (n *FunctionResource) write(w *writer) { w.text(n.Path, n.Kind) }

func (n *CreateModel) write(w *writer) {
	w.create(n.Temporary, false, KindModel, n.IfNotExists, &n.Name)
	if len(n.Input) > 0 {
		w.t("INPUT")
		parens(w, n.Input)
	}
	if len(n.Output) > 0 {
		w.t("OUTPUT")
		parens(w, n.Output)
	}
	w.text(n.Comment, "COMMENT")
	w.options(n.With, n.Options)
	w.as(n.As)
}

func (n *CreateConnection) write(w *writer) {
	w.create(n.Temporary, n.System, KindConnection, n.IfNotExists, &n.Name)
	w.text(n.Comment, "COMMENT")
	w.options(true, n.Options)
}

func (n *CreateMaterializedTable) write(w *writer) {
	w.t("CREATE")
	w.when(n.OrAlter, "OR", "ALTER")
	w.t("MATERIALIZED", "TABLE")
	w.when(n.IfNotExists, "IF NOT EXISTS")
	n.Name.write(w)
	w.elements(n.Parens, n.Elements)
	w.text(n.Comment, "COMMENT")
	w.tablePlace(n.Distribution, n.PartitionBy)
	w.options(n.With, n.Options)
	w.clause(n.Freshness, "FRESHNESS", "=")
	w.when(n.RefreshMode != "", "REFRESH_MODE", "=", n.RefreshMode)
	w.as(n.As)
}

func (n *Drop) write(w *writer) {
	w.t("DROP")
	w.when(n.Temporary, "TEMPORARY")
	w.when(n.System, "SYSTEM")
	w.t(string(n.Kind))
	w.when(n.IfExists, "IF EXISTS")
	n.Name.write(w)
	w.t(n.Behavior)
}

func (n *Alter) write(w *writer) {
	w.t("ALTER")
	w.when(n.Temporary, "TEMPORARY")
	w.when(n.System, "SYSTEM")
	w.t(string(n.Kind))
	w.when(n.IfExists, "IF EXISTS")
	n.Name.write(w)
	n.Action.write(w)
}

func (n *RenameTo) write(w *writer) {
	w.t("RENAME", "TO")
	n.Name.write(w)
}

func (n *RenameColumn) write(w *writer) {
	w.t("RENAME")
	n.From.write(w)
	w.t("TO")
	n.To.write(w)
}

func (n *SetOptions) write(w *writer) {
	w.t("SET")
	parens(w, n.Options)
}

func (n *ResetOptions) write(w *writer) {
	w.t("RESET")
	parens(w, n.Keys)
}

func (n *SetComment) write(w *writer) { w.text(n.Comment, "COMMENT") }

// verb writes ADD or MODIFY.
func (w *writer) verb(modify bool) {
	w.when(modify, "MODIFY")
	w.when(!modify, "ADD")
}

func (n *AddElements) write(w *writer) {
	w.verb(n.Modify)
	if n.Parens {
		parens(w, n.Elements)
		return
	}
	list(w, n.Elements)
}

func (n *AddDistribution) write(w *writer) {
	w.verb(n.Modify)
	w.t("DISTRIBUTION")
	n.Distribution.write(w)
}

func (n *DropColumns) write(w *writer) {
	w.t("DROP")
	if n.Parens {
		parens(w, n.Columns)
		return
	}
	list(w, n.Columns)
}

func (n *DropPart) write(w *writer) {
	w.t("DROP", n.Part)
	if n.Name != nil {
		w.name(*n.Name)
	}
}

func (n *AddPartitions) write(w *writer) {
	w.t("ADD")
	w.when(n.IfNotExists, "IF NOT EXISTS")
	for _, p := range n.Partitions {
		p.write(w)
	}
}

func (n *DropPartitions) write(w *writer) {
	w.t("DROP")
	w.when(n.IfExists, "IF EXISTS")
	list(w, n.Partitions)
}

func (n *Partition) write(w *writer) {
	w.t("PARTITION")
	parens(w, n.Values)
	w.options(n.With, n.Options)
}

func (n *PartitionValue) write(w *writer) {
	w.name(n.Column)
	w.clause(n.Value, "=")
}

func (n *AlterQuery) write(w *writer) { w.as(n.Query) }

func (n *AlterRefresh) write(w *writer) {
	switch n.Action {
	case "FRESHNESS":
		w.clause(n.Freshness, "SET", "FRESHNESS", "=")
		return
	case "REFRESH_MODE":
		w.t("SET", "REFRESH_MODE", "=", n.Mode)
		return
	}
	w.t(n.Action)
	w.options(n.With, n.Options)
	if n.Partition != nil {
		n.Partition.write(w)
	}
}
