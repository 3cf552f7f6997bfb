package catalog

import (
	"fmt"
	"maps"
	"slices"
)

// Catalog keeps databases. What it gives is sorted by name.
type Catalog interface {
	Databases() ([]string, error)
	// Database gives nil if there is none of this name.
	Database(name string) (*Database, error)
	// PutDatabase makes a database, or changes it.
	PutDatabase(name string, d *Database) error
	// DropDatabase removes a database with all that is in it.
	DropDatabase(name string) error

	Tables(database string) ([]string, error)
	// Table gives nil if there is none of this name.
	Table(database, name string) (*Table, error)
	// PutTable makes a table, or replaces it.
	PutTable(database, name string, t *Table) error
	DropTable(database, name string) error

	Functions(database string) ([]string, error)
	// Function gives nil if there is none of this name.
	Function(database, name string) (*Function, error)
	// PutFunction makes a function, or replaces it.
	PutFunction(database, name string, f *Function) error
	DropFunction(database, name string) error
}

// Database says of a database what is not in it.
type Database struct {
	Comment string
	Options map[string]string
}

// Memory is a catalog that is gone with its session.
type Memory struct {
	databases map[string]*contents
}

type contents struct {
	Database
	tables    map[string]*Table
	functions map[string]*Function
}

// NewMemory makes a catalog with a database that is empty.
func NewMemory(database string) *Memory {
	m := &Memory{map[string]*contents{}}
	m.databases[database] = newContents(Database{})
	return m
}

func newContents(d Database) *contents {
	return &contents{d, map[string]*Table{}, map[string]*Function{}}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// in gives what is in a database.
func (m *Memory) in(database string) (*contents, error) {
	if c, ok := m.databases[database]; ok {
		return c, nil
	}
	return nil, fmt.Errorf("there is no database %s", database)
}

// Databases gives their names.
func (m *Memory) Databases() ([]string, error) { return sorted(m.databases), nil }

// Database gives one of them.
func (m *Memory) Database(name string) (*Database, error) {
	if c, ok := m.databases[name]; ok {
		return &c.Database, nil
	}
	return nil, nil
}

// PutDatabase makes a database, or changes it.
func (m *Memory) PutDatabase(name string, d *Database) error {
	if c, ok := m.databases[name]; ok {
		c.Database = *d
	} else {
		m.databases[name] = newContents(*d)
	}
	return nil
}

// DropDatabase removes a database with all that is in it.
func (m *Memory) DropDatabase(name string) error {
	delete(m.databases, name)
	return nil
}

// Tables gives the names of a database's tables and views.
func (m *Memory) Tables(database string) ([]string, error) {
	c, err := m.in(database)
	if err != nil {
		return nil, err
	}
	return sorted(c.tables), nil
}

// Table gives one of them.
func (m *Memory) Table(database, name string) (*Table, error) {
	if c, ok := m.databases[database]; ok {
		return c.tables[name], nil
	}
	return nil, nil
}

// PutTable makes a table, or replaces it.
func (m *Memory) PutTable(database, name string, t *Table) error {
	c, err := m.in(database)
	if err != nil {
		return err
	}
	c.tables[name] = t
	return nil
}

// DropTable removes a table.
func (m *Memory) DropTable(database, name string) error {
	c, err := m.in(database)
	if err != nil {
		return err
	}
	delete(c.tables, name)
	return nil
}

// Functions gives the names of a database's functions.
func (m *Memory) Functions(database string) ([]string, error) {
	c, err := m.in(database)
	if err != nil {
		return nil, err
	}
	return sorted(c.functions), nil
}

// Function gives one of them.
func (m *Memory) Function(database, name string) (*Function, error) {
	if c, ok := m.databases[database]; ok {
		return c.functions[name], nil
	}
	return nil, nil
}

// PutFunction makes a function, or replaces it.
func (m *Memory) PutFunction(database, name string, f *Function) error {
	c, err := m.in(database)
	if err != nil {
		return err
	}
	c.functions[name] = f
	return nil
}

// DropFunction removes a function.
func (m *Memory) DropFunction(database, name string) error {
	c, err := m.in(database)
	if err != nil {
		return err
	}
	delete(c.functions, name)
	return nil
}
