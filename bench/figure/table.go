package figure

import (
	"fmt"
	"strings"
)

// Table gives the figures as a Markdown table, and below it a line for each that
// is missed or was not measured. failures say why keys have no value; others is
// how many cores other programs used meanwhile.
func Table(figures []Figure, values Values, failures map[string]error, others float64) string {
	var table, below strings.Builder
	table.WriteString("| figure | target | median [min..max] | n | met? |\n|---|---|---|---|---|\n")
	for _, f := range figures {
		s := Summarize(values[f.Key])
		switch {
		case s.N == 0:
			fmt.Fprintf(&table, "| %s | %s | not measured | 0 | |\n", f.Name, f.Target())
			fmt.Fprintf(&below, "* Not measured: %s: %s.\n", f.Name, reason(failures[f.Key], "nothing was reported for it"))
			continue
		case f.Limit == 0:
			fmt.Fprintf(&table, "| %s | %s | %s %s | %d | |\n", f.Name, f.Target(), s, f.Unit, s.N)
			continue
		}
		met := "yes"
		if !f.Met(s.Median) {
			met = "**no**"
			fmt.Fprintf(&below, "* Missed: %s: %s %s instead of %s: %s.\n", f.Name, short(s.Median), f.Unit, f.Target(), f.why(s, others))
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %d | %s |\n", f.Name, f.Target(), s, s.N, met)
	}
	if below.Len() > 0 {
		return table.String() + "\n" + below.String()
	}
	return table.String()
}

// quiet is how many cores others may use before they are suspected.
const quiet = 0.1

// why gives what is known of the reason that the figure is missed.
func (f *Figure) why(s Summary, others float64) string {
	var all []string
	if f.Missed != "" {
		all = append(all, f.Missed)
	}
	if f.Wall && others > quiet {
		busy := fmt.Sprintf("other programs used %.1f cores meanwhile", others)
		if f.Met(s.Min) {
			busy += fmt.Sprintf(", and the least, %s %s, meets it", short(s.Min), f.Unit)
		}
		all = append(all, busy)
	}
	if len(all) == 0 {
		return "the reason is not known yet"
	}
	return strings.Join(all, "; ")
}

func reason(err error, otherwise string) string {
	if err == nil {
		return otherwise
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
