// Package connector is what a connector of tables says of itself before any table is
// read or written: its options, and what can be done with its tables.
//
// It promises that what a declaration does not allow is refused when a statement is
// planned, with the option or the table's name. It never opens anything.
package connector

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Declared is a connector that declares itself. One that does not is asked only when its
// job is made.
type Declared interface {
	Declaration() Declaration
}

// Checked is a connector that can tell from the options alone what is wrong with a table
// that is to be read. It opens nothing.
type Checked interface {
	CheckOptions(table string, options map[string]string) error
}

// Declaration is what a connector says of itself.
type Declaration struct {
	// Required options must be there, and Optional ones may. An option that ends with a
	// star stands for all that begin so.
	Required, Optional []string
	// Source and Sink say what its tables are for.
	Source, Sink bool
	// Metadata are the keys of the metadata columns that it gives.
	Metadata []string
	// Partitions, Overwrite and Truncate say what a sink can.
	Partitions, Overwrite, Truncate bool
	// Changes gives the kinds of changes that a table with these options is read as or
	// takes, such as "I,UB,UA,D"; nil: inserts.
	Changes func(options map[string]string) string
}

// always are options that every table may have.
var always = []string{"connector", "property-version", "scan.parallelism", "sink.parallelism", "scan.watermark.*", "lookup.*"}

// Check refuses options that are missing, or that the connector does not know.
func (d Declaration) Check(name string, options map[string]string) error {
	var missing, unknown []string
	for _, o := range d.Required {
		if _, ok := options[o]; !ok {
			missing = append(missing, o)
		}
	}
	if len(missing) > 0 {
		//lint:ignore ST1005 Flink's words
		return fmt.Errorf("One or more required options are missing.\n\nMissing required options are:\n\n%s", strings.Join(missing, "\n"))
	}
	known := slices.Concat(d.Required, d.Optional, always)
	for _, o := range slices.Sorted(maps.Keys(options)) {
		if !slices.ContainsFunc(known, func(k string) bool { return allows(k, o) }) {
			unknown = append(unknown, o)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(known)
	near := ""
	if found := nearest(unknown[0], known); found != "" {
		near = fmt.Sprintf("\n\nDid you mean '%s' for '%s'?", found, unknown[0])
	}
	//lint:ignore ST1005 Flink's words
	return fmt.Errorf("Unsupported options found for '%s'.\n\nUnsupported options:\n\n%s\n\nSupported options:\n\n%s%s",
		name, strings.Join(unknown, "\n"), strings.Join(known, "\n"), near)
}

func allows(known, option string) bool {
	prefix, many := strings.CutSuffix(known, "*")
	return known == option || many && strings.HasPrefix(option, prefix)
}

// nearest is the option that is spelt nearly as one that is not known; empty: none is.
func nearest(option string, known []string) string {
	best, least := "", 2+len(option)/4
	for _, k := range known {
		if d := levenshtein.ComputeDistance(option, k); d < least && !strings.HasSuffix(k, "*") {
			best, least = k, d
		}
	}
	return best
}

// Text writes options as errors show them.
func Text(options map[string]string) string {
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(options)) {
		lines = append(lines, fmt.Sprintf("'%s'='%s'", k, options[k]))
	}
	return strings.Join(lines, "\n")
}
