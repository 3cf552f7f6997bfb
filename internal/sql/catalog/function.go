package catalog

import "fmt"

// Function gives the user's function of a path, a temporary one before others; nil:
// there is none.
func (m *Manager) Function(p Path) (*Function, error) {
	if f, ok := m.functions[p]; ok {
		return f, nil
	}
	c, ok := m.catalogs[p.Catalog]
	if !ok {
		return nil, nil
	}
	return c.Function(p.Database, p.Object)
}

// SystemFunction gives the user's function that needs no database; nil: there is none.
func (m *Manager) SystemFunction(name string) *Function { return m.system[name] }

// CreateFunction makes a function. One that is there already is an error unless it is
// to be left.
func (m *Manager) CreateFunction(p Path, f *Function, unlessThere bool) error {
	switch {
	case f.System:
		if m.system[p.Object] != nil && !unlessThere {
			return fmt.Errorf("Could not register temporary system function. A function named '%s' does already exist.", p.Object) //lint:ignore ST1005 Flink's words
		} else if m.system[p.Object] == nil {
			m.system[p.Object] = f
		}
		return nil
	case f.Temporary:
		if m.functions[p] != nil && !unlessThere {
			return fmt.Errorf("Could not register temporary catalog function. A function '%s' does already exist.", p) //lint:ignore ST1005 Flink's words
		} else if m.functions[p] == nil {
			m.functions[p] = f
		}
		return nil
	}
	c, err := m.Catalog(p.Catalog)
	if err != nil {
		return err
	}
	switch d, err := c.Database(p.Database); {
	case err != nil:
		return err
	case d == nil:
		return doing("CREATE CATALOG FUNCTION "+p.String(), noDatabase(p.Database, p.Catalog))
	}
	switch old, err := c.Function(p.Database, p.Object); {
	case err != nil:
		return err
	case old != nil && unlessThere:
		return nil
	case old != nil:
		//lint:ignore ST1005 Flink's words
		return doing("CREATE CATALOG FUNCTION "+p.String(), fmt.Errorf("Function %s already exists in Catalog %s.", p.InDatabase(), p.Catalog))
	}
	return c.PutFunction(p.Database, p.Object, f)
}

// AlterFunction replaces a function that is not temporary.
func (m *Manager) AlterFunction(p Path, f *Function, ifThere bool) error {
	c, err := m.Catalog(p.Catalog)
	if err != nil {
		return err
	}
	switch old, err := c.Function(p.Database, p.Object); {
	case err != nil:
		return err
	case old == nil && ifThere:
		return nil
	case old == nil:
		return noFunction(p)
	}
	return c.PutFunction(p.Database, p.Object, f)
}

func noFunction(p Path) error {
	return fmt.Errorf("Function %s does not exist in Catalog %s.", p.InDatabase(), p.Catalog) //lint:ignore ST1005 Flink's words
}

// DropFunction removes a function.
func (m *Manager) DropFunction(p Path, temporary, system, ifThere bool) error {
	switch {
	case system:
		if m.system[p.Object] == nil && !ifThere {
			return fmt.Errorf("Could not drop temporary system function. A function named '%s' doesn't exist.", p.Object) //lint:ignore ST1005 Flink's words
		}
		delete(m.system, p.Object)
		return nil
	case temporary:
		if m.functions[p] == nil && !ifThere {
			return fmt.Errorf("Temporary catalog function %s doesn't exist", p.Quoted()) //lint:ignore ST1005 Flink's words
		}
		delete(m.functions, p)
		return nil
	}
	c, err := m.Catalog(p.Catalog)
	if err != nil {
		return err
	}
	switch old, err := c.Function(p.Database, p.Object); {
	case err != nil:
		return err
	case old == nil && ifThere:
		return nil
	case old == nil:
		return noFunction(p)
	}
	return c.DropFunction(p.Database, p.Object)
}

// Functions gives the names of the user's functions in a database, temporary ones with
// them.
func (m *Manager) Functions(catalog, database string) ([]string, error) {
	c, err := m.Catalog(catalog)
	if err != nil {
		return nil, err
	}
	names, err := c.Functions(database)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, name := range names {
		found[name] = true
	}
	for p := range m.functions {
		if p.Catalog == catalog && p.Database == database {
			found[p.Object] = true
		}
	}
	for name := range m.system {
		found[name] = true
	}
	return sorted(found), nil
}
