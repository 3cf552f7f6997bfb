package filecatalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/sql/catalog"
)

// Catalog is one that is kept in a directory. It belongs to one session; others, in this
// process and in others, may have the same directory.
type Catalog struct {
	files fs.FileSystem
	dir   fs.Location
	kinds map[fs.Location]*versions
}

var _ catalog.Catalog = (*Catalog)(nil)

// Open gives the catalog of a directory, and makes the database if the directory has none.
func Open(files fs.FileSystem, dir fs.Location, database string) (*Catalog, error) {
	c := &Catalog{files, dir, map[fs.Location]*versions{}}
	names, err := c.Databases()
	if err != nil || len(names) > 0 {
		return c, err
	}
	if err := c.PutDatabase(database, &catalog.Database{}); err != nil {
		if there, reading := c.Database(database); reading != nil || there == nil { // nor has another made it
			return nil, err
		}
	}
	return c, nil
}

// The files and directories of a database.
const (
	ofDatabase = "database"
	tables     = "tables"
	functions  = "functions"
)

// in gives the definitions of one kind of a database.
func (c *Catalog) in(database string, kind ...string) *versions {
	dir := c.dir.Join(append([]string{escape(database)}, kind...)...)
	v := c.kinds[dir]
	if v == nil {
		v = versionsIn(c.files, dir)
		c.kinds[dir] = v
	}
	return v
}

// Databases gives their names.
func (c *Catalog) Databases() ([]string, error) {
	entries, err := c.files.List(context.Background(), c.dir)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		parts := strings.Split(strings.TrimPrefix(string(e.Location), string(c.dir)+"/"), "/")
		if len(parts) != 2 {
			continue
		}
		name, ok := unescape(parts[0])
		if of, _, is := parseFile(parts[1]); ok && is && of == ofDatabase && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Database gives one of them; nil: there is none of this name.
func (c *Catalog) Database(name string) (*catalog.Database, error) {
	if name == "" {
		return nil, nil
	}
	v := c.in(name)
	text, err := v.get(ofDatabase)
	if text == nil || err != nil {
		return nil, err
	}
	d, err := decode[database](text)
	if err != nil {
		return nil, v.unreadable(ofDatabase, err)
	}
	return &catalog.Database{Comment: d.Comment, Options: d.Options}, nil
}

// unreadable says which file it is that cannot be read.
func (v *versions) unreadable(name string, err error) error {
	return fmt.Errorf("%s: %w", v.dir.Join(fileOf(name, v.seen[name])), err)
}

// PutDatabase makes a database, or changes it.
func (c *Catalog) PutDatabase(name string, d *catalog.Database) error {
	text, err := encode(database{d.Comment, d.Options})
	if err != nil {
		return err
	}
	return c.in(name).put(ofDatabase, text)
}

// DropDatabase removes a database with all that is in it.
func (c *Catalog) DropDatabase(name string) error {
	for _, kind := range []string{tables, functions} {
		v := c.in(name, kind)
		names, err := v.names()
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := v.drop(n); err != nil {
				return err
			}
		}
	}
	if err := c.in(name).drop(ofDatabase); err != nil {
		return err
	}
	return c.files.DeleteTree(context.Background(), c.dir.Join(escape(name)))
}

// Tables gives the names of a database's tables and views.
func (c *Catalog) Tables(database string) ([]string, error) { return c.in(database, tables).names() }

// Table gives one of them; nil: there is none of this name.
func (c *Catalog) Table(database, name string) (*catalog.Table, error) {
	if database == "" || name == "" {
		return nil, nil
	}
	v := c.in(database, tables)
	text, err := v.get(name)
	if text == nil || err != nil {
		return nil, err
	}
	t, err := decodeTable(text)
	if err != nil {
		return nil, v.unreadable(name, err)
	}
	return t, nil
}

// PutTable makes a table, or replaces it.
func (c *Catalog) PutTable(database, name string, t *catalog.Table) error {
	text, err := encodeTable(t)
	if err != nil {
		return fmt.Errorf("table %s: %w", name, err)
	}
	return c.put(database, name, tables, text)
}

var errNoName = errors.New("a name is empty")

func (c *Catalog) put(database, name, kind string, text []byte) error {
	if database == "" || name == "" {
		return errNoName
	}
	return c.in(database, kind).put(name, text)
}

// DropTable removes a table.
func (c *Catalog) DropTable(database, name string) error { return c.in(database, tables).drop(name) }

// Functions gives the names of a database's functions.
func (c *Catalog) Functions(database string) ([]string, error) {
	return c.in(database, functions).names()
}

// Function gives one of them; nil: there is none of this name.
func (c *Catalog) Function(database, name string) (*catalog.Function, error) {
	if database == "" || name == "" {
		return nil, nil
	}
	v := c.in(database, functions)
	text, err := v.get(name)
	if text == nil || err != nil {
		return nil, err
	}
	f, err := decode[function](text)
	if err != nil {
		return nil, v.unreadable(name, err)
	}
	return &catalog.Function{Class: f.Class, Language: f.Language, Using: f.Using}, nil
}

// PutFunction makes a function, or replaces it.
func (c *Catalog) PutFunction(database, name string, f *catalog.Function) error {
	text, err := encode(function{f.Class, f.Language, f.Using})
	if err != nil {
		return err
	}
	return c.put(database, name, functions, text)
}

// DropFunction removes a function.
func (c *Catalog) DropFunction(database, name string) error {
	return c.in(database, functions).drop(name)
}
