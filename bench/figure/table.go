package figure

import (
	"fmt"
	"strings"
)

// Table gives the figures as a Markdown table, and below it a line for each that
// is missed or was not measured. failures say why keys have no value.
func Table(figures []Figure, values Values, failures map[string]error) string {
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
			why := f.Missed
			if why == "" {
				why = "the reason is not known yet"
			}
			fmt.Fprintf(&below, "* Missed: %s: %s %s instead of %s: %s.\n", f.Name, short(s.Median), f.Unit, f.Target(), why)
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %d | %s |\n", f.Name, f.Target(), s, s.N, met)
	}
	if below.Len() > 0 {
		return table.String() + "\n" + below.String()
	}
	return table.String()
}

func reason(err error, otherwise string) string {
	if err == nil {
		return otherwise
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
