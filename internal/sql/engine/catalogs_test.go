package engine_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/session"
)

// begin begins a session, as another process would.
func begin(t *testing.T, settings map[string]string) session.Session {
	t.Helper()
	settings["execution.runtime-mode"] = "batch"
	s, err := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: builtin.Connectors(), Settings: settings, Now: time.Now}).Open(t.Context(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// says gives what a statement tells, a line for each row, or why it was refused.
func says(t *testing.T, s session.Session, statement string) string {
	t.Helper()
	r, err := s.Execute(t.Context(), statement, nil)
	if err != nil {
		return "error: " + err.Error()
	}
	defer r.Rows.Close()
	var lines []string
	for {
		b, err := r.Rows.Next(context.Background())
		if errors.Is(err, io.EOF) {
			return strings.Join(lines, "\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			var fields []string
			for k, c := range b.Cols {
				if !c.IsNull(i) {
					fields = append(fields, r.Show(r.Schema[k].Type, c, i))
				}
			}
			lines = append(lines, strings.Join(fields, " | "))
		}
	}
}

func expect(t *testing.T, s session.Session, statement, want string) {
	t.Helper()
	if got := says(t, s, statement); got != want && !(strings.HasPrefix(got, "error: ") && want != "" && strings.HasSuffix(want, "…") && strings.Contains(got, strings.TrimSuffix(want, "…"))) {
		t.Errorf("%s\ngives %s\nwant  %s", statement, got, want)
	}
}

func TestCatalogsInFilesOutliveTheirSession(t *testing.T) {
	dir := t.TempDir()
	kept := map[string]string{"table.catalog-store.kind": "file", "table.catalog-store.file.path": filepath.Join(dir, "catalogs")}
	one := begin(t, kept)
	expect(t, one, "CREATE CATALOG shop COMMENT 'what we sell' WITH ('type'='file', 'path'='"+filepath.Join(dir, "shop")+"', 'default-database'='main')", "OK")
	expect(t, one, "USE CATALOG shop", "OK")
	expect(t, one, "CREATE TABLE orders (id INT NOT NULL, ts TIMESTAMP(3), twice AS id * 2, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND, PRIMARY KEY (id) NOT ENFORCED) COMMENT 'all' WITH ('connector'='datagen', 'number-of-rows'='1')", "OK")
	expect(t, one, "CREATE VIEW ids AS SELECT id FROM orders", "OK")
	expect(t, one, "CREATE DATABASE more COMMENT 'x'", "OK")
	expect(t, one, "CREATE FUNCTION mask AS 'mask' LANGUAGE GO", "OK")
	expect(t, one, "CREATE TEMPORARY TABLE gone (a INT) WITH ('connector'='print')", "OK")
	shown := says(t, one, "SHOW CREATE TABLE orders")

	two := begin(t, kept)
	expect(t, two, "SHOW CATALOGS", "default_catalog\nshop")
	expect(t, two, "USE CATALOG shop", "OK")
	expect(t, two, "SHOW CURRENT DATABASE", "main")
	expect(t, two, "SHOW TABLES", "ids\norders")
	expect(t, two, "SHOW DATABASES", "main\nmore")
	expect(t, two, "SHOW USER FUNCTIONS", "mask")
	expect(t, two, "SHOW CREATE TABLE orders", shown)
	if !strings.Contains(shown, "PRIMARY KEY") || !strings.Contains(shown, "WATERMARK") {
		t.Error(shown)
	}
	expect(t, two, "EXPLAIN SELECT SUM(id) FROM ids", says(t, one, "EXPLAIN SELECT SUM(id) FROM ids"))
	expect(t, two, "SELECT mask('a')", "no function is registered as 'mask'…")
	expect(t, two, "DESCRIBE CATALOG EXTENDED shop", "name | shop\ntype | file\ncomment | what we sell\noption:default-database | main\noption:path | "+filepath.Join(dir, "shop"))
	expect(t, two, "ALTER TABLE orders ADD (note STRING)", "OK")
	expect(t, two, "ALTER TABLE ids RENAME TO numbers", "ALTER TABLE for a view is not allowed…")
	expect(t, two, "ALTER VIEW ids RENAME TO numbers", "OK")
	expect(t, two, "ALTER CATALOG shop COMMENT 'what we sold'", "OK")
	expect(t, two, "CREATE CATALOG shop WITH ('type'='generic_in_memory')", "Catalog shop already exists.…")

	// What one session has done, another sees at once.
	expect(t, one, "SHOW TABLES", "gone\nnumbers\norders")
	expect(t, one, "ALTER TABLE orders DROP note", "OK")
	expect(t, one, "SHOW CREATE TABLE orders", shown)
	expect(t, one, "CREATE CATALOG other WITH ('type'='generic_in_memory')", "OK")
	expect(t, two, "SHOW CATALOGS", "default_catalog\nother\nshop")
	expect(t, two, "DROP CATALOG other", "OK")
	expect(t, one, "SHOW CATALOGS", "default_catalog\nshop")
	expect(t, two, "DROP CATALOG shop", "Cannot drop a catalog which is currently in use.…")
	expect(t, two, "USE CATALOG default_catalog", "OK")
	expect(t, two, "DROP CATALOG shop", "OK")
	expect(t, begin(t, kept), "SHOW CATALOGS", "default_catalog")

	// What is in a catalog stays where it is kept.
	expect(t, two, "CREATE CATALOG again WITH ('type'='file', 'path'='"+filepath.Join(dir, "shop")+"')", "OK")
	expect(t, two, "SHOW TABLES FROM again.main", "numbers\norders")
	expect(t, two, "DROP DATABASE again.main", "is not empty…")
	expect(t, two, "DROP DATABASE again.main CASCADE", "OK")
	expect(t, two, "SHOW DATABASES IN again", says(t, two, "SHOW DATABASES FROM again"))
}

func TestCatalogsThatCannotBeMade(t *testing.T) {
	s := begin(t, map[string]string{})
	for options, want := range map[string]string{
		"'type'='nope'":                            "there is no catalog of type 'nope'; there are file, generic_in_memory…",
		"'type'='file'":                            "needs the option 'path'…",
		"'type'='file','path'=''":                  "its name is empty…",
		"'type'='file','path'='s3://a/b'":          "'s3://a/b' is not there…",
		"'type'='file','path'='/x','colour'='red'": "has no option 'colour'; it has default-database, path…",
		"'type'='generic_in_memory','path'='/x'":   "has no option 'path'; it has default-database…",
		"'path'='/x'":                              "do not contain an option key 'type'…",
	} {
		expect(t, s, "CREATE CATALOG c WITH ("+options+")", want)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := says(t, s, "CREATE CATALOG c WITH ('type'='file','path'='"+file+"')"); !strings.Contains(got, file) {
		t.Error(got)
	}
	if _, err := engine.New(engine.Options{Settings: map[string]string{"table.catalog-store.kind": "file"}}).Open(t.Context(), session.Options{}); err == nil || !strings.Contains(err.Error(), "table.catalog-store.file.path") {
		t.Error(err)
	}
}

// A definition that cannot be read stands in nobody's way but its own.
func TestABrokenCatalog(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"good.yaml": "type: generic_in_memory\n", "bad.yaml": "type: jdbc\n", "worse.yaml": "[\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := begin(t, map[string]string{"table.catalog-store.kind": "file", "table.catalog-store.file.path": dir})
	expect(t, s, "SHOW CATALOGS", "bad\ndefault_catalog\ngood\nworse")
	expect(t, s, "USE CATALOG good", "OK")
	expect(t, s, "USE CATALOG bad", "open catalog bad: there is no catalog of type 'jdbc'…")
	expect(t, s, "SHOW DATABASES FROM worse", "worse.yaml…")
	expect(t, s, "DROP CATALOG worse", "OK")
}

// A rehearsal writes nothing.
func TestARehearsalKeepsNothing(t *testing.T) {
	dir := t.TempDir()
	e := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: builtin.Connectors(), Now: time.Now, Rehearsal: true,
		Settings: map[string]string{"table.catalog-store.kind": "file", "table.catalog-store.file.path": filepath.Join(dir, "catalogs")}})
	s, err := e.Open(t.Context(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, s, "CREATE CATALOG c WITH ('type'='file','path'='"+filepath.Join(dir, "c")+"')", "OK")
	expect(t, s, "CREATE TABLE c.`default`.t (a INT) WITH ('connector'='print')", "OK")
	expect(t, s, "SHOW TABLES FROM c.`default`", "t")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}
