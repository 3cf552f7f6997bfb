package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/connector"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/logical"
	"github.com/weirstream/weir/internal/sql/session"
)

// connected asks the connectors of all tables whether they can do what a plan asks of
// them.
func (st *statement) connected(sinks ...*logical.Sink) error {
	for _, s := range sinks {
		if s.Table != nil {
			if err := st.writes(s); err != nil {
				return err
			}
		}
		if err := st.reads(s.Input); err != nil {
			return err
		}
	}
	return nil
}

// declaration gives what a table's connector says of itself; ok is false if it says
// nothing.
func (st *statement) declaration(options map[string]string) (d connector.Declaration, ok bool, err error) {
	name, there := options["connector"]
	if !there {
		//lint:ignore ST1005 Flink's words
		return d, false, errors.New("Table options do not contain an option key 'connector' for discovering a connector.")
	}
	c, known := st.o.Connectors[name]
	if !known {
		return d, false, fmt.Errorf("there is no connector '%s'; there are %s", name, strings.Join(slices.Sorted(maps.Keys(st.o.Connectors)), ", "))
	}
	declared, ok := c.(connector.Declared)
	if !ok {
		return d, false, nil
	}
	d = declared.Declaration()
	return d, true, d.Check(name, options)
}

// unable refuses what a table's connector cannot do.
func unable(what string, path catalog.Path, options map[string]string, why error) error {
	text := fmt.Sprintf("Unable to create a %s table '%s'.\n\nTable options are:\n\n%s", what, path, connector.Text(options))
	return &session.Error{Class: session.ClassValidation, Text: text, Cause: &session.Error{Class: session.ClassValidation, Text: why.Error()}}
}

func withHints(options, hints map[string]string) map[string]string {
	all := maps.Clone(options)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, hints)
	return all
}

// reads checks the tables that a tree reads, and those of its sub-queries.
func (st *statement) reads(n logical.Node) error {
	if scan, ok := n.(*logical.Scan); ok {
		return st.read1(scan)
	}
	var err error
	for _, e := range logical.Exprs(n) {
		expr.Walk(e, func(e expr.Expr) bool {
			if q, ok := e.(*logical.Subquery); ok && err == nil {
				err = st.reads(q.Plan)
			}
			return err == nil
		})
	}
	for _, in := range n.Inputs() {
		if err == nil {
			err = st.reads(in)
		}
	}
	return err
}

func (st *statement) read1(scan *logical.Scan) error {
	options := withHints(scan.Table.Options, scan.Hints)
	d, ok, err := st.declaration(options)
	if err != nil {
		return unable("source for reading", scan.Path, options, err)
	}
	if c, checked := st.o.Connectors[options["connector"]].(connector.Checked); checked {
		if err := c.CheckOptions(scan.Path.String(), options); err != nil {
			return unable("source for reading", scan.Path, options, err)
		}
	}
	if !ok {
		return nil
	}
	if !d.Source {
		//lint:ignore ST1005 Flink's words
		return unable("source for reading", scan.Path, options, fmt.Errorf("Connector '%s' can only be used as a sink. It cannot be used as a source.", options["connector"]))
	}
	for _, c := range scan.Table.Schema.Columns {
		key := c.MetadataKey
		if key == "" {
			key = c.Name
		}
		if c.Kind == catalog.Metadata && !slices.Contains(d.Metadata, key) {
			return refused(session.ClassValidation, "Table '%s' declares metadata columns, and its connector '%s' gives no metadata '%s'; %s", scan.Path, options["connector"], key, available(d.Metadata))
		}
	}
	if d.Changes != nil && st.bounded() {
		if changes := d.Changes(options); changes != "" && changes != "I" {
			return refused(session.ClassTable, "Querying a table in batch mode is currently only possible for INSERT-only table sources. But the source for table '%s' produces other changelog messages than just INSERT.", scan.Path)
		}
	}
	return nil
}

func available(keys []string) string {
	if len(keys) == 0 {
		return "there is none"
	}
	return "there is " + strings.Join(keys, ", ")
}

// writes checks the table that a plan writes.
func (st *statement) writes(s *logical.Sink) error {
	options := withHints(s.Table.Options, s.Hints)
	d, ok, err := st.declaration(options)
	if err != nil {
		return unable("sink for writing", s.Path, options, err)
	}
	switch {
	case !ok:
		return nil
	case !d.Sink:
		//lint:ignore ST1005 Flink's words
		return unable("sink for writing", s.Path, options, fmt.Errorf("Connector '%s' can only be used as a source. It cannot be used as a sink.", options["connector"]))
	case s.Overwrite && !d.Overwrite:
		return refused(session.ClassValidation, "INSERT OVERWRITE requires a connector that can overwrite, and '%s', that of table '%s', cannot.", options["connector"], s.Path)
	case s.Overwrite && !st.bounded():
		return refused(session.ClassTable, "Streaming mode not support overwrite.")
	case len(s.Table.Partitions) > 0 && !d.Partitions:
		return refused(session.ClassTable, "Table '%s' is a partitioned table, but its connector '%s' has no partitions.", s.Path, options["connector"])
	}
	return nil
}

// refused is an error of a class.
func refused(class, format string, args ...any) error {
	return &session.Error{Class: class, Text: fmt.Sprintf(format, args...)}
}
