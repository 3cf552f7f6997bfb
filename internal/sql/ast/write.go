package ast

import (
	"strconv"
	"strings"
)

// String writes a node as SQL in one canonical form: keywords in upper case, names
// in back quotes where they could be read as keywords, parentheses where they are
// needed. Parsing the text gives a tree that is Equal.
func String(n Node) string {
	var w writer
	n.write(&w)
	return w.b.String()
}

// Quoted writes a node as Flink keeps and shows the text of views, computed columns
// and watermarks: all names in back quotes but those of functions, and each
// clause of a query on a line of its own. Names are not made full: whoever
// expands a view puts full names into its tree first.
func Quoted(n Node) string {
	w := writer{flink: true}
	n.write(&w)
	return w.b.String()
}

// Equal says whether two nodes are written alike, wherever they stood.
func Equal(a, b Node) bool { return String(a) == String(b) }

// QuoteName writes a name so that it is read as a name: in back quotes unless it
// is a plain word that no keyword can be mistaken for.
func QuoteName(name string) string {
	plain := name != "" && (name[0] < '0' || name[0] > '9') && !LookUp(name).needsQuotes()
	for i := 0; plain && i < len(name); i++ {
		c := name[i]
		plain = c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	if plain {
		return name
	}
	return backQuoted(name)
}

func backQuoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// QuoteString writes a text in quotes.
func QuoteString(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// writer puts words, names and nodes one behind the other, with blanks between
// them.
type writer struct {
	b strings.Builder
	// tight is set if the next word follows without a blank.
	tight bool
	// flink is set for the form of Quoted.
	flink bool
	// line is set if the next word starts a line.
	line bool
}

// newLine starts a line before the next word, in the form of Quoted.
func (w *writer) newLine() { w.line = w.flink && w.b.Len() > 0 }

// t writes words with a blank before each. Empty words are left out.
func (w *writer) t(words ...string) {
	for _, s := range words {
		if s == "" {
			continue
		}
		switch {
		case w.line:
			w.b.WriteByte('\n')
		case w.b.Len() > 0 && !w.tight:
			w.b.WriteByte(' ')
		}
		w.tight, w.line = false, false
		w.b.WriteString(s)
	}
}

// g writes a mark without a blank before it.
func (w *writer) g(s string) {
	w.b.WriteString(s)
	w.tight = false
}

// open writes a parenthesis behind a blank, and glue one without; what follows is
// close to it.
func (w *writer) open() {
	w.t("(")
	w.tight = true
}

func (w *writer) glue(s string) {
	w.b.WriteString(s)
	w.tight = true
}

// when writes words if a condition holds.
func (w *writer) when(ok bool, words ...string) {
	if ok {
		w.t(words...)
	}
}

// name writes a name, and names several with commas between.
func (w *writer) name(n Name) {
	if w.flink {
		w.t(backQuoted(n.Text))
		return
	}
	w.t(QuoteName(n.Text))
}

func (w *writer) names(list []Name) {
	for i, n := range list {
		if i > 0 {
			w.g(",")
		}
		w.name(n)
	}
}

// inParens writes names in parentheses, or nothing if there are none.
func (w *writer) inParens(list []Name) {
	if len(list) > 0 {
		w.open()
		w.names(list)
		w.g(")")
	}
}

// dotted writes names with dots between.
func (w *writer) dotted(list []Name) {
	for i, n := range list {
		if i > 0 {
			w.glue(".")
		}
		w.name(n)
	}
}

// list writes nodes with commas between.
func list[N Node](w *writer, nodes []N) {
	for i, n := range nodes {
		if i > 0 {
			w.g(",")
		}
		n.write(w)
	}
}

// parens writes nodes in parentheses with commas between.
func parens[N Node](w *writer, nodes []N) {
	w.open()
	list(w, nodes)
	w.g(")")
}

// clause writes words and a node, or nothing if there is no node.
func (w *writer) clause(n Node, words ...string) {
	if n != nil {
		w.t(words...)
		n.write(w)
	}
}

// text writes words and a text in quotes, or nothing if there is none.
func (w *writer) text(s *StringLiteral, words ...string) {
	if s != nil {
		w.t(words...)
		s.write(w)
	}
}

// options writes WITH ('k' = 'v').
func (w *writer) options(written bool, options []*Option) {
	if written || len(options) > 0 {
		w.t("WITH")
		parens(w, options)
	}
}

// number writes (n), or nothing for -1.
func (w *writer) number(n int) {
	if n >= 0 {
		w.g("(" + strconv.Itoa(n) + ")")
	}
}

// query writes a query in parentheses.
func (w *writer) query(q *Query) {
	w.open()
	q.write(w)
	w.g(")")
}

// expr writes an expression, in parentheses if it binds weaker than needed.
func (w *writer) expr(e Expr, bind int) {
	if bindOf(e) >= bind {
		e.write(w)
		return
	}
	w.open()
	e.write(w)
	w.g(")")
}

func (n *Name) write(w *writer)       { w.name(*n) }
func (n *ObjectName) write(w *writer) { w.dotted(n.Parts) }
func (n *Option) write(w *writer) {
	n.Key.write(w)
	w.t("=")
	n.Value.write(w)
}
