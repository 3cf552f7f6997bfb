package logical

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// Text draws a tree, an operator to a line, inputs below and indented.
func Text(n Node) string { return Noted(n, func(Node) string { return "" }) }

// Noted is Text with a note at the end of each operator's line.
func Noted(n Node, note func(Node) string) string {
	var b strings.Builder
	write(&b, n, "", "", note)
	return b.String()
}

func write(b *strings.Builder, n Node, first, rest string, note func(Node) string) {
	b.WriteString(first + n.describe() + note(n) + "\n")
	inputs := n.Inputs()
	for i, in := range inputs {
		if i < len(inputs)-1 {
			write(b, in, rest+":- ", rest+":  ", note)
		} else {
			write(b, in, rest+"+- ", rest+"   ", note)
		}
	}
}

func (n *Scan) describe() string {
	text := fmt.Sprintf("Scan(table=[%s], fields=[%s]", n.Path, names(n.Fields()))
	if len(n.Filters) > 0 {
		text += ", filter=[" + exprs(n.Filters) + "]"
	}
	return text + ")"
}

func (n *Values) describe() string {
	rows := make([]string, len(n.Rows))
	for i, r := range n.Rows {
		rows[i] = "{ " + exprs(r) + " }"
	}
	return "Values(rows=[" + strings.Join(rows, ", ") + "])"
}

func (n *Project) describe() string {
	list := make([]string, len(n.Exprs))
	for i, e := range n.Exprs {
		list[i] = n.Names[i] + "=[" + e.String() + "]"
	}
	return "Project(" + strings.Join(list, ", ") + ")"
}

func (n *Filter) describe() string { return "Filter(condition=[" + n.Condition.String() + "])" }

var joinKinds = [...]string{"inner", "left", "right", "full", "semi", "anti"}

func (k JoinKind) String() string { return joinKinds[k] }

func (n *Join) describe() string {
	condition := "true"
	if n.Condition != nil {
		condition = n.Condition.String()
	}
	text := fmt.Sprintf("Join(kind=[%s], condition=[%s]", n.Kind, condition)
	if n.NullAware {
		text += ", nullAware"
	}
	if n.Temporal {
		text += ", temporal"
	}
	return text + ")"
}

func (n *Aggregate) describe() string {
	return "Aggregate(" + strings.TrimPrefix("group=["+columns(n.Keys)+"]"+calls(n.Calls), ", ") + ")"
}

func calls(list []AggregateCall) string {
	var b strings.Builder
	for _, c := range list {
		args := columns(c.Args)
		if c.Distinct {
			args = "DISTINCT " + args
		}
		b.WriteString(", " + c.Name + "=[" + c.Fn.Name + "(" + args + ")")
		if len(c.Order) > 0 {
			b.WriteString(" WITHIN GROUP (" + keys(c.Order) + ")")
		}
		if c.Filter >= 0 {
			b.WriteString(" FILTER $" + strconv.Itoa(c.Filter))
		}
		b.WriteString("]")
	}
	return b.String()
}

func (n *Expand) describe() string {
	lists := make([]string, len(n.Lists))
	for i, l := range n.Lists {
		lists[i] = "{" + exprs(l) + "}"
	}
	return "Expand(projects=[" + strings.Join(lists, ", ") + "])"
}

func (n *Over) describe() string {
	return fmt.Sprintf("Over(partition=[%s], order=[%s], frame=[%s]%s)", columns(n.Partition), keys(n.Order), n.Frame, calls(n.Calls))
}

// String writes the frame as SQL does.
func (f Frame) String() string {
	unit := "RANGE"
	if f.Rows {
		unit = "ROWS"
	}
	return unit + " BETWEEN " + f.Start.text("PRECEDING") + " AND " + f.End.text("FOLLOWING")
}

func (b Bound) text(unbounded string) string {
	switch {
	case b.Unbounded:
		return "UNBOUNDED " + unbounded
	case b.Offset == nil:
		return "CURRENT ROW"
	case b.Following:
		return b.Offset.String() + " FOLLOWING"
	}
	return b.Offset.String() + " PRECEDING"
}

func (n *Sort) describe() string {
	text := "Sort(order=[" + keys(n.Keys) + "]"
	if n.Offset > 0 {
		text += ", offset=[" + strconv.FormatInt(n.Offset, 10) + "]"
	}
	if n.Fetch >= 0 {
		text += ", fetch=[" + strconv.FormatInt(n.Fetch, 10) + "]"
	}
	return text + ")"
}

var setKinds = [...]string{"Union", "Intersect", "Except"}

func (n *SetOperation) describe() string {
	return fmt.Sprintf("%s(all=[%t])", setKinds[n.Kind], n.All)
}

func (n *Unnest) describe() string {
	return fmt.Sprintf("Unnest(collection=[%s], elements=[%s], outer=[%t])", n.Collection, names(n.Elements), n.Outer)
}

var windowKinds = [...]string{"TUMBLE", "HOP", "CUMULATE", "SESSION"}

func (n *Window) describe() string {
	return fmt.Sprintf("Window(kind=[%s], time=[$%d], size=[%d ms], slide=[%d ms], offset=[%d ms], partition=[%s])", windowKinds[n.Kind], n.Time, n.Size, n.Slide, n.Offset, columns(n.Partition))
}

func (n *Sink) describe() string {
	if n.Table == nil {
		return "Collect(fields=[" + names(n.Fields()) + "])"
	}
	return fmt.Sprintf("Sink(table=[%s], fields=[%s])", n.Path, names(n.Fields()))
}

func names(fields []types.Field) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.Name
	}
	return strings.Join(list, ", ")
}

func columns(list []int) string {
	text := make([]string, len(list))
	for i, c := range list {
		text[i] = "$" + strconv.Itoa(c)
	}
	return strings.Join(text, ", ")
}

func exprs(list []expr.Expr) string {
	text := make([]string, len(list))
	for i, e := range list {
		text[i] = e.String()
	}
	return strings.Join(text, ", ")
}

func keys(list []SortKey) string {
	text := make([]string, len(list))
	for i, k := range list {
		text[i] = "$" + strconv.Itoa(k.Column) + " ASC"
		if k.Descending {
			text[i] = "$" + strconv.Itoa(k.Column) + " DESC"
		}
		if k.NullsLast != k.Descending {
			text[i] += map[bool]string{true: " NULLS LAST", false: " NULLS FIRST"}[k.NullsLast]
		}
	}
	return strings.Join(text, ", ")
}
