package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/parse"
)

// Complete gives what may stand at a place of an unfinished statement: keywords, and
// names with what qualifies them there.
func (s *Session) Complete(_ context.Context, text string, position int) ([]string, error) {
	at := parse.Complete(text, position)
	all := slices.Clone(at.Keywords)
	qualifier := ""
	for _, q := range at.Qualifier {
		qualifier += q + "."
	}
	for _, kind := range at.Kinds {
		var names []string
		switch kind {
		case parse.KindTable, parse.KindView:
			names = append(s.tablesAt(at.Qualifier), at.CommonTables...)
		case parse.KindCatalog:
			names = s.names.Catalogs()
		case parse.KindDatabase:
			names = s.databasesAt(at.Qualifier)
		case parse.KindColumn:
			names = s.columnsAt(at)
		case parse.KindExpression:
			names = append(s.columnsAt(at), s.functionsAt(at)...)
		case parse.KindFunction:
			names = s.functionsAt(at)
		}
		for _, n := range names {
			if len(n) >= len(at.Prefix) && strings.EqualFold(n[:len(at.Prefix)], at.Prefix) {
				all = append(all, qualifier+n)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// tablesAt are the tables and views of the database that a name is qualified with, and
// what else may stand there: databases, and catalogs.
func (s *Session) tablesAt(qualifier []string) []string {
	in, database := s.names.Current()
	names := s.databasesAt(qualifier)
	switch len(qualifier) {
	case 0:
		names = append(names, s.names.Catalogs()...)
	case 1:
		database = qualifier[0]
	case 2:
		in, database = qualifier[0], qualifier[1]
	}
	tables, err := s.names.Tables(in, database, func(*catalog.Table) bool { return true })
	if err != nil {
		return names // nothing is there
	}
	return append(names, tables...)
}

// databasesAt are those of the catalog that a name is qualified with.
func (s *Session) databasesAt(qualifier []string) []string {
	in, _ := s.names.Current()
	switch len(qualifier) {
	case 0:
	case 1:
		in = qualifier[0]
	default:
		return nil
	}
	c, err := s.names.Catalog(in)
	if err != nil {
		return nil
	}
	names, err := c.Databases()
	if err != nil {
		return nil
	}
	return names
}

// columnsAt are the columns of the relations that can be named, or of the one that the
// name is qualified with, and the relations' own names.
func (s *Session) columnsAt(at parse.Completion) []string {
	var names []string
	for _, r := range at.Relations {
		called := r.Alias
		if called == "" && len(r.Table) > 0 {
			called = r.Table[len(r.Table)-1]
		}
		if len(at.Qualifier) > 0 && !strings.EqualFold(called, at.Qualifier[len(at.Qualifier)-1]) {
			continue
		}
		if len(at.Qualifier) == 0 && called != "" {
			names = append(names, called)
		}
		names = append(names, r.Columns...)
		if len(r.Columns) == 0 && r.Table != nil {
			names = append(names, s.columnsOf(r.Table)...)
		}
	}
	return names
}

// columnsOf are those of a table; none if it is not there.
func (s *Session) columnsOf(table []string) []string {
	path, err := s.names.Qualify(table)
	if err != nil {
		return nil
	}
	t, err := s.names.Table(path)
	if err != nil {
		return nil
	}
	var names []string
	for _, c := range t.Schema.Columns {
		names = append(names, c.Name)
	}
	return names
}

// functionsAt are the functions that are built in, once there is something of a name: they
// are too many to choose from.
func (s *Session) functionsAt(at parse.Completion) []string {
	if at.Prefix == "" || len(at.Qualifier) > 0 {
		return nil
	}
	var names []string
	for _, f := range s.o.Registry.Functions() {
		names = append(names, f.Name)
	}
	return names
}
