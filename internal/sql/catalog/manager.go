package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// The catalog and the database that a session begins with.
const (
	DefaultCatalog  = "default_catalog"
	DefaultDatabase = "default_database"
)

// Manager is a session's view of all names.
type Manager struct {
	catalogs map[string]Catalog
	made     map[string]*Definition // of the catalogs that a statement has made
	current  Path                   // without an object

	tables    map[Path]*Table // temporary ones
	functions map[Path]*Function
	system    map[string]*Function // temporary functions that need no database
	models    map[Path]*Model

	store Store // nil: what catalogs there are ends with the session
	open  func(name string, d *Definition) (Catalog, error)
}

// Definition is what a catalog was made with.
type Definition struct {
	Comment string
	Options map[string]string
}

// Store keeps definitions of catalogs for other sessions.
type Store interface {
	// Names are those of all catalogs.
	Names() ([]string, error)
	// Get gives a definition; nil: there is none of this name.
	Get(name string) (*Definition, error)
	// Put makes a definition, or replaces it.
	Put(name string, d *Definition) error
	Drop(name string) error
}

// NewManager begins a session with an empty catalog in memory.
func NewManager() *Manager {
	return &Manager{
		catalogs: map[string]Catalog{DefaultCatalog: NewMemory(DefaultDatabase)},
		made:     map[string]*Definition{},
		current:  Path{Catalog: DefaultCatalog, Database: DefaultDatabase},
		tables:   map[Path]*Table{}, functions: map[Path]*Function{}, system: map[string]*Function{},
		models: map[Path]*Model{},
	}
}

// Current gives the catalog and the database that short names are looked up in.
func (m *Manager) Current() (catalog, database string) { return m.current.Catalog, m.current.Database }

// Catalogs gives their names.
func (m *Manager) Catalogs() []string { return sorted(m.catalogs) }

// Catalog gives one of them, or an error that says there is none.
func (m *Manager) Catalog(name string) (Catalog, error) {
	if c, ok := m.catalogs[name]; ok {
		return c, nil
	}
	return nil, fmt.Errorf("Catalog %s does not exist.", name) //lint:ignore ST1005 Flink's words
}

// Keep lets the session have the catalogs of a store besides, which open opens, and keeps
// those in it that the session makes. It is called before anything else.
func (m *Manager) Keep(store Store, open func(name string, d *Definition) (Catalog, error)) {
	m.store, m.open = store, open
}

// Refresh finds out what other sessions have made and dropped. One that cannot be opened is
// there all the same, and says so when it is used.
func (m *Manager) Refresh() error {
	if m.store == nil {
		return nil
	}
	names, err := m.store.Names()
	if err != nil {
		return err
	}
	for name := range m.made {
		if !slices.Contains(names, name) && name != m.current.Catalog {
			delete(m.catalogs, name)
			delete(m.made, name)
		}
	}
	for _, name := range names {
		if _, there := m.catalogs[name]; there {
			continue
		}
		d, err := m.store.Get(name)
		if d == nil && err == nil {
			continue // it was dropped just now
		}
		var c Catalog
		if err == nil {
			c, err = m.open(name, d)
		}
		if err != nil {
			c = broken{fmt.Errorf("open catalog %s: %w", name, err)}
		}
		if d == nil {
			d = &Definition{Options: map[string]string{}}
		}
		m.catalogs[name], m.made[name] = c, d
	}
	return nil
}

// Definition gives what a catalog was made with; nil: no statement has made it.
func (m *Manager) Definition(name string) *Definition {
	if m.store != nil && m.made[name] != nil {
		if d, err := m.store.Get(name); err == nil && d != nil {
			m.made[name] = d
		}
	}
	return m.made[name]
}

// AddCatalog gives the session a catalog.
func (m *Manager) AddCatalog(name string, c Catalog, d *Definition) error {
	if _, ok := m.catalogs[name]; ok {
		return fmt.Errorf("Catalog %s already exists.", name) //lint:ignore ST1005 Flink's words
	}
	if m.store != nil {
		if err := m.store.Put(name, d); err != nil {
			return err
		}
	}
	m.catalogs[name], m.made[name] = c, d
	return nil
}

// AlterCatalog changes what a catalog is said to be made with. An open one stays as it is
// in this session.
func (m *Manager) AlterCatalog(name string, d *Definition) error {
	if m.store != nil {
		if err := m.store.Put(name, d); err != nil {
			return err
		}
	}
	m.made[name] = d
	return nil
}

// DropCatalog takes a catalog from the session, and out of the store; what is in it stays
// where it is kept.
func (m *Manager) DropCatalog(name string) error {
	if _, ok := m.catalogs[name]; !ok {
		return fmt.Errorf("Catalog %s does not exist.", name) //lint:ignore ST1005 Flink's words
	}
	if name == m.current.Catalog {
		return fmt.Errorf("Cannot drop a catalog which is currently in use.") //lint:ignore ST1005 Flink's words
	}
	if m.store != nil && m.made[name] != nil {
		if err := m.store.Drop(name); err != nil {
			return err
		}
	}
	delete(m.catalogs, name)
	delete(m.made, name)
	return nil
}

// UseCatalog makes a catalog the current one, with its first database.
func (m *Manager) UseCatalog(name string) error {
	c, ok := m.catalogs[name]
	if !ok {
		return fmt.Errorf("A catalog with name [%s] does not exist.", name) //lint:ignore ST1005 Flink's words
	}
	databases, err := c.Databases()
	if err != nil {
		return err
	}
	m.current = Path{Catalog: name}
	for _, d := range databases {
		if m.current.Database == "" || d == DefaultDatabase {
			m.current.Database = d
		}
	}
	return nil
}

// UseDatabase makes a database the current one.
func (m *Manager) UseDatabase(catalog, database string) error {
	c, err := m.Catalog(catalog)
	if err != nil {
		return err
	}
	switch d, err := c.Database(database); {
	case err != nil:
		return err
	case d == nil:
		//lint:ignore ST1005 Flink's words
		return fmt.Errorf("A database with name [%s] does not exist in the catalog: [%s].", database, catalog)
	}
	m.current = Path{Catalog: catalog, Database: database}
	return nil
}

// Qualify makes a name of one to three parts a whole path.
func (m *Manager) Qualify(name []string) (Path, error) {
	switch len(name) {
	case 1:
		return Path{m.current.Catalog, m.current.Database, name[0]}, nil
	case 2:
		return Path{m.current.Catalog, name[0], name[1]}, nil
	case 3:
		return Path{name[0], name[1], name[2]}, nil
	}
	return Path{}, fmt.Errorf("the name %s has %d parts; it may have up to three: catalog, database and object", Dotted(name), len(name))
}

// QualifyDatabase makes the name of a database one with its catalog.
func (m *Manager) QualifyDatabase(name []string) (catalog, database string, err error) {
	switch len(name) {
	case 1:
		return m.current.Catalog, name[0], nil
	case 2:
		return name[0], name[1], nil
	}
	return "", "", fmt.Errorf("the name %s has %d parts; that of a database may have two: catalog and database", Dotted(name), len(name))
}

// Table gives the table or view of a path, a temporary one before others; nil: there
// is none.
func (m *Manager) Table(p Path) (*Table, error) {
	if t, ok := m.tables[p]; ok {
		return t, nil
	}
	c, ok := m.catalogs[p.Catalog]
	if !ok {
		return nil, nil
	}
	return c.Table(p.Database, p.Object)
}

// CreateTable makes a table or a view. It reports whether it did: one that is there
// already is an error unless it is to be left.
func (m *Manager) CreateTable(p Path, t *Table, unlessThere bool) (bool, error) {
	if t.Temporary {
		if _, there := m.tables[p]; there {
			if unlessThere {
				return false, nil
			}
			return false, fmt.Errorf("Temporary table '%s' already exists", p.Quoted()) //lint:ignore ST1005 Flink's words
		}
		m.tables[p] = t
		return true, nil
	}
	c, err := m.Catalog(p.Catalog)
	if err != nil {
		return false, err
	}
	switch d, err := c.Database(p.Database); {
	case err != nil:
		return false, err
	case d == nil:
		return false, doing("CreateTable in path "+p.Quoted(), noDatabase(p.Database, p.Catalog))
	}
	switch old, err := c.Table(p.Database, p.Object); {
	case err != nil:
		return false, err
	case old != nil && unlessThere:
		return false, nil
	case old != nil:
		return false, doing("CreateTable in path "+p.Quoted(), tableExists(p))
	}
	return true, c.PutTable(p.Database, p.Object, t)
}

// ReplaceTable puts a changed table in the place of what it was.
func (m *Manager) ReplaceTable(p Path, t *Table) error {
	if _, ok := m.tables[p]; ok {
		m.tables[p] = t
		return nil
	}
	c, err := m.Catalog(p.Catalog)
	if err != nil {
		return err
	}
	return c.PutTable(p.Database, p.Object, t)
}

// RenameTable gives a table that is not temporary another name in its database.
func (m *Manager) RenameTable(from, to Path) error {
	c, err := m.Catalog(from.Catalog)
	if err != nil {
		return err
	}
	t, err := c.Table(from.Database, from.Object)
	if err != nil {
		return err
	}
	switch old, err := c.Table(to.Database, to.Object); {
	case err != nil:
		return err
	case old != nil:
		return doing("ALTER TABLE "+from.String()+" RENAME TO "+to.String(), tableExists(to))
	}
	if err := c.PutTable(to.Database, to.Object, t); err != nil {
		return err
	}
	return c.DropTable(from.Database, from.Object)
}

// DropTable removes a table or a view, of the kind that is named.
func (m *Manager) DropTable(p Path, kind TableKind, temporary, ifThere bool) error {
	name := kind.String()
	if temporary {
		if t, ok := m.tables[p]; ok && t.Kind == kind {
			delete(m.tables, p)
			return nil
		}
		if ifThere {
			return nil
		}
		return fmt.Errorf("Temporary table or view with identifier '%s' does not exist.", p) //lint:ignore ST1005 Flink's words
	}
	if t, ok := m.tables[p]; ok && t.Kind == kind {
		//lint:ignore ST1005 Flink's words
		return fmt.Errorf("Temporary %s with identifier '%s' exists. Drop it first before removing the permanent %s.", strings.ToLower(name), p.Quoted(), strings.ToLower(name))
	}
	if c, ok := m.catalogs[p.Catalog]; ok {
		t, err := c.Table(p.Database, p.Object)
		if err != nil {
			return err
		}
		if t != nil && t.Kind == kind {
			return c.DropTable(p.Database, p.Object)
		}
	}
	if ifThere {
		return nil
	}
	return fmt.Errorf("%s with identifier '%s' does not exist.", name, p) //lint:ignore ST1005 Flink's words
}

// Tables gives the names of a database's tables and views, temporary ones with them.
func (m *Manager) Tables(catalog, database string, which func(*Table) bool) ([]string, error) {
	c, err := m.Catalog(catalog)
	if err != nil {
		return nil, err
	}
	names, err := c.Tables(database)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, name := range names {
		found[name] = true
	}
	for p := range m.tables {
		if p.Catalog == catalog && p.Database == database {
			found[p.Object] = true
		}
	}
	for name := range found {
		t, err := m.Table(Path{catalog, database, name})
		if err != nil {
			return nil, err
		}
		if t == nil || !which(t) {
			delete(found, name)
		}
	}
	return sorted(found), nil
}
