package catalog

import (
	"errors"
	"fmt"
)

// doing says what could not be done and why, in the words that people know from Flink.
func doing(what string, why error) error {
	return &Failure{What: what, Why: why}
}

// Failure is a change to a catalog that was refused.
type Failure struct {
	// What was to be done.
	What string
	Why  error
}

func (f *Failure) Error() string { return "Could not execute " + f.What + ": " + f.Why.Error() }

// Unwrap gives the reason.
func (f *Failure) Unwrap() error { return f.Why }

func noDatabase(database, catalog string) error {
	return fmt.Errorf("Database %s does not exist in Catalog %s.", database, catalog) //lint:ignore ST1005 Flink's words
}

func tableExists(p Path) error {
	return fmt.Errorf("Table (or view) %s already exists in Catalog %s.", p.InDatabase(), p.Catalog) //lint:ignore ST1005 Flink's words
}

// CreateDatabase makes an empty database.
func (m *Manager) CreateDatabase(catalog, database string, d *Database, unlessThere bool) error {
	what := fmt.Sprintf("CREATE DATABASE %s.%s", catalog, database)
	c, err := m.Catalog(catalog)
	if err != nil {
		return doing(what, err)
	}
	switch old, err := c.Database(database); {
	case err != nil:
		return err
	case old != nil && unlessThere:
		return nil
	case old != nil:
		//lint:ignore ST1005 Flink's words
		return doing(what, fmt.Errorf("Database %s already exists in Catalog %s.", database, catalog))
	}
	return c.PutDatabase(database, d)
}

// AlterDatabase changes the options of a database.
func (m *Manager) AlterDatabase(catalog, database string, options map[string]string) error {
	what := fmt.Sprintf("ALTER DATABASE %s.%s", catalog, database)
	c, err := m.Catalog(catalog)
	if err != nil {
		return doing(what, err)
	}
	old, err := c.Database(database)
	switch {
	case err != nil:
		return err
	case old == nil:
		return doing(what, noDatabase(database, catalog))
	}
	changed := &Database{Comment: old.Comment, Options: map[string]string{}}
	for _, from := range []map[string]string{old.Options, options} {
		for k, v := range from {
			changed.Options[k] = v
		}
	}
	return c.PutDatabase(database, changed)
}

// DropDatabase removes a database: with all that is in it, or only if it is empty.
func (m *Manager) DropDatabase(catalog, database string, ifThere, all bool) error {
	how := "RESTRICT"
	if all {
		how = "CASCADE"
	}
	what := fmt.Sprintf("DROP DATABASE %s.%s %s", catalog, database, how)
	if catalog == m.current.Catalog && database == m.current.Database {
		//lint:ignore ST1005 Flink's words
		return doing(what, errors.New("Cannot drop a database which is currently in use."))
	}
	c, err := m.Catalog(catalog)
	if err != nil {
		return doing(what, err)
	}
	switch d, err := c.Database(database); {
	case err != nil:
		return err
	case d == nil && ifThere:
		return nil
	case d == nil:
		return doing(what, noDatabase(database, catalog))
	}
	if !all {
		tables, err := c.Tables(database)
		if err != nil {
			return err
		}
		functions, err := c.Functions(database)
		if err != nil {
			return err
		}
		if len(tables)+len(functions) > 0 {
			return doing(what, fmt.Errorf("Database %s in catalog %s is not empty.", database, catalog)) //lint:ignore ST1005 Flink's words
		}
	}
	return c.DropDatabase(database)
}
