package catalog

import (
	"reflect"
	"strings"
	"testing"
)

func path(object string) Path { return Path{DefaultCatalog, DefaultDatabase, object} }

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

func TestTablesOfASession(t *testing.T) {
	m := NewManager()
	base, view := &Table{Schema: Schema{Columns: []Column{{Name: "a"}}}}, &Table{Kind: View}
	for name, table := range map[string]*Table{"t": base, "v": view} {
		if made, err := m.CreateTable(path(name), table, false); err != nil || !made {
			t.Fatal(made, err)
		}
	}
	_, err := m.CreateTable(path("t"), base, false)
	wantError(t, err, "Could not execute CreateTable in path `default_catalog`.`default_database`.`t`: Table (or view) default_database.t already exists in Catalog default_catalog.")
	if made, err := m.CreateTable(path("t"), view, true); err != nil || made {
		t.Error(made, err)
	}
	_, err = m.CreateTable(Path{DefaultCatalog, "none", "t"}, base, false)
	wantError(t, err, "Database none does not exist in Catalog default_catalog.")
	_, err = m.CreateTable(Path{"none", "d", "t"}, base, false)
	wantError(t, err, "Catalog none does not exist.")

	wantError(t, m.DropTable(path("v"), BaseTable, false, false), "Table with identifier 'default_catalog.default_database.v' does not exist.")
	wantError(t, m.DropTable(path("t"), View, false, false), "View with identifier 'default_catalog.default_database.t' does not exist.")
	if err := m.DropTable(path("none"), View, false, true); err != nil {
		t.Error(err)
	}
	if err := m.RenameTable(path("t"), path("u")); err != nil {
		t.Error(err)
	}
	wantError(t, m.RenameTable(path("u"), path("v")), "Table (or view) default_database.v already exists")
	names, err := m.Tables(DefaultCatalog, DefaultDatabase, func(*Table) bool { return true })
	if err != nil || !reflect.DeepEqual(names, []string{"u", "v"}) {
		t.Error(names, err)
	}
}

func TestTemporaryTablesHideOthers(t *testing.T) {
	m := NewManager()
	lasting, temporary := &Table{Comment: "lasting"}, &Table{Comment: "temporary", Temporary: true}
	for _, table := range []*Table{lasting, temporary} {
		if _, err := m.CreateTable(path("t"), table, false); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := m.Table(path("t")); err != nil || found != temporary {
		t.Error(found, err)
	}
	wantError(t, m.DropTable(path("t"), BaseTable, false, false), "Drop it first")
	if err := m.DropTable(path("t"), BaseTable, true, false); err != nil {
		t.Error(err)
	}
	if found, err := m.Table(path("t")); err != nil || found != lasting {
		t.Error(found, err)
	}
	wantError(t, m.DropTable(path("t"), BaseTable, true, false), "Temporary table or view with identifier 'default_catalog.default_database.t' does not exist.")
}

func TestDatabases(t *testing.T) {
	m := NewManager()
	if err := m.CreateDatabase(DefaultCatalog, "d", &Database{Comment: "c"}, false); err != nil {
		t.Fatal(err)
	}
	wantError(t, m.CreateDatabase(DefaultCatalog, "d", &Database{}, false), "Database d already exists in Catalog default_catalog.")
	wantError(t, m.CreateDatabase("none", "d", &Database{}, false), "Catalog none does not exist.")
	if err := m.UseDatabase(DefaultCatalog, "d"); err != nil {
		t.Error(err)
	}
	wantError(t, m.UseDatabase(DefaultCatalog, "none"), "A database with name [none] does not exist in the catalog: [default_catalog].")
	if p, err := m.Qualify([]string{"t"}); err != nil || p != (Path{DefaultCatalog, "d", "t"}) {
		t.Error(p, err)
	}
	wantError(t, m.DropDatabase(DefaultCatalog, "d", false, true), "Cannot drop a database which is currently in use.")
	if err := m.UseCatalog(DefaultCatalog); err != nil {
		t.Error(err)
	}
	if _, err := m.CreateTable(Path{DefaultCatalog, "d", "t"}, &Table{}, false); err != nil {
		t.Error(err)
	}
	wantError(t, m.DropDatabase(DefaultCatalog, "d", false, false), "Database d in catalog default_catalog is not empty.")
	if err := m.DropDatabase(DefaultCatalog, "d", false, true); err != nil {
		t.Error(err)
	}
	wantError(t, m.DropDatabase(DefaultCatalog, "d", false, false), "Database d does not exist in Catalog default_catalog.")
}

func TestCatalogs(t *testing.T) {
	m := NewManager()
	if err := m.AddCatalog("c", NewMemory("first"), &Definition{Options: map[string]string{"type": "generic_in_memory"}}); err != nil {
		t.Fatal(err)
	}
	wantError(t, m.AddCatalog("c", NewMemory("first"), nil), "Catalog c already exists.")
	if err := m.UseCatalog("c"); err != nil {
		t.Error(err)
	}
	if c, d := m.Current(); c != "c" || d != "first" {
		t.Error(c, d)
	}
	wantError(t, m.DropCatalog("c"), "Cannot drop a catalog which is currently in use.")
	wantError(t, m.DropCatalog("none"), "Catalog none does not exist.")
	_, err := m.Qualify([]string{"a", "b", "c", "d"})
	wantError(t, err, "4 parts")
}

func TestFunctions(t *testing.T) {
	m := NewManager()
	f := &Function{Class: "a.B", Language: "JAVA"}
	if err := m.CreateFunction(path("f"), f, false); err != nil {
		t.Fatal(err)
	}
	wantError(t, m.CreateFunction(path("f"), f, false), "Function default_database.f already exists in Catalog default_catalog.")
	wantError(t, m.AlterFunction(path("g"), f, false), "Function default_database.g does not exist in Catalog default_catalog.")
	temporary := &Function{Class: "a.C", Temporary: true}
	if err := m.CreateFunction(path("f"), temporary, false); err != nil {
		t.Error(err)
	}
	if found, err := m.Function(path("f")); err != nil || found != temporary {
		t.Error(found, err)
	}
	if err := m.DropFunction(path("f"), true, false, false); err != nil {
		t.Error(err)
	}
	if names, err := m.Functions(DefaultCatalog, DefaultDatabase); err != nil || !reflect.DeepEqual(names, []string{"f"}) {
		t.Error(names, err)
	}
	if err := m.DropFunction(path("f"), false, false, false); err != nil {
		t.Error(err)
	}
}
