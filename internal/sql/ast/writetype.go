package ast

import "strconv"

// null writes NULL or NOT NULL, or nothing.
func (n nullable) null(w *writer) { w.t(string(n.Null)) }

func (n *ScalarType) write(w *writer) {
	if n.Name == "INTEGER" && !w.flink {
		w.t("INT")
	} else {
		w.t(n.Name)
	}
	switch {
	case n.Scale >= 0:
		w.g("(" + strconv.Itoa(n.Precision) + ", " + strconv.Itoa(n.Scale) + ")")
	default:
		w.number(n.Precision)
	}
	w.t(n.Zone)
	n.null(w)
}

func (n *CollectionType) write(w *writer) {
	w.t(n.Kind)
	w.glue("<")
	n.Element.write(w)
	w.g(">")
	n.null(w)
}

func (n *MapType) write(w *writer) {
	w.t("MAP")
	w.glue("<")
	n.Key.write(w)
	w.g(",")
	n.Value.write(w)
	w.g(">")
	n.null(w)
}

func (n *RowType) write(w *writer) {
	w.t("ROW")
	w.glue("<")
	list(w, n.Fields)
	w.g(">")
	n.null(w)
}

func (n *RowField) write(w *writer) {
	w.name(n.Name)
	n.Type.write(w)
	w.text(n.Comment)
}

func (n *RawType) write(w *writer) {
	w.t("RAW")
	w.glue("(")
	n.Class.write(w)
	w.g(",")
	n.Serializer.write(w)
	w.g(")")
	n.null(w)
}

func (n *StructuredType) write(w *writer) {
	w.t("STRUCTURED")
	w.glue("<")
	n.Class.write(w)
	for _, f := range n.Fields {
		w.g(",")
		f.write(w)
	}
	w.g(">")
	n.null(w)
}

func (n *IntervalType) write(w *writer) {
	w.t("INTERVAL")
	n.Qualifier.write(w)
	n.null(w)
}

func (n *NamedType) write(w *writer) {
	n.Name.write(w)
	n.null(w)
}
