package filecatalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/local"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/types"
)

func at(t testing.TB, dir string) fs.Location {
	t.Helper()
	l, err := fs.Parse(filepath.ToSlash(dir))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func open(t testing.TB, dir string) *Catalog {
	t.Helper()
	c, err := Open(local.FileSystem{}, at(t, dir), "default")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

// orders has all that a table can have.
func orders() *catalog.Table {
	rowtime := types.TimestampOf(3)
	rowtime.Time = types.Rowtime
	return &catalog.Table{
		Comment: "what's sold: 'all'\nof it",
		Schema: catalog.Schema{
			Columns: []catalog.Column{
				{Name: "id", Type: types.Of(types.BigInt).NotNull(), Comment: "true"},
				{Name: "Ünit price", Type: types.DecimalOf(10, 2)},
				{Name: "tags", Type: types.ArrayOf(types.RowOf(types.Field{Name: "a b", Type: types.MapOf(types.String(), types.TimeOf(3))}))},
				{Name: "at", Type: rowtime},
				{Name: "twice", Type: types.Of(types.BigInt), Kind: catalog.Computed, Expression: "`id` * 2"},
				{Name: "part", Type: types.String(), Kind: catalog.Metadata, MetadataKey: "partition", Virtual: true},
				{Name: "offset", Type: types.Of(types.BigInt), Kind: catalog.Metadata},
			},
			Watermarks: []catalog.Watermark{{Column: "at", Expression: "`at` - INTERVAL '5' SECOND", Type: types.TimestampOf(3)}},
			PrimaryKey: &catalog.PrimaryKey{Name: "pk", Columns: []string{"id"}},
		},
		Partitions:   []string{"tags"},
		Distribution: &catalog.Distribution{Kind: "HASH", Keys: []string{"id"}, Buckets: 4},
		Options:      map[string]string{"connector": "filesystem", "path": "/data: {x}", "csv.null-literal": "null", "n": "007"},
		Kept:         []catalog.Partition{{Values: map[string]string{"tags": "1"}, Options: map[string]string{"k": "v"}}},
		Statistics:   &catalog.Statistics{Rows: 3, Columns: map[string]catalog.ColumnStatistics{"id": {Distinct: 3, Nulls: 1}}},
	}
}

func TestWhatIsKept(t *testing.T) {
	dir := t.TempDir()
	one := open(t, dir)
	must(t, one.PutDatabase("shop", &catalog.Database{Comment: "c", Options: map[string]string{"k": "v"}}))
	view := &catalog.Table{Kind: catalog.View, Original: "SELECT 1 -- x", Query: "SELECT 1", Schema: catalog.Schema{Columns: []catalog.Column{{Name: "EXPR$0", Type: types.Of(types.Int).NotNull()}}}}
	f := &catalog.Function{Class: "mask", Language: "GO", Using: []catalog.Resource{{Kind: "JAR", Path: "/a.jar"}}}
	must(t, one.PutTable("shop", "orders", orders()))
	must(t, one.PutTable("shop", "Odd/na.me", view))
	must(t, one.PutFunction("shop", "mask", f))

	two := open(t, dir) // another process
	if names, err := two.Databases(); err != nil || !slices.Equal(names, []string{"default", "shop"}) {
		t.Error(names, err)
	}
	if d, err := two.Database("shop"); err != nil || !reflect.DeepEqual(d, &catalog.Database{Comment: "c", Options: map[string]string{"k": "v"}}) {
		t.Error(d, err)
	}
	if names, err := two.Tables("shop"); err != nil || !slices.Equal(names, []string{"Odd/na.me", "orders"}) {
		t.Error(names, err)
	}
	if got, err := two.Table("shop", "orders"); err != nil || !reflect.DeepEqual(got, orders()) {
		t.Errorf("got %+v %v\nwant %+v", got, err, orders())
	}
	if got, err := two.Table("shop", "Odd/na.me"); err != nil || !reflect.DeepEqual(got, view) {
		t.Errorf("got %+v %v\nwant %+v", got, err, view)
	}
	if got, err := two.Function("shop", "mask"); err != nil || !reflect.DeepEqual(got, f) {
		t.Error(got, err)
	}
	for _, of := range []struct{ database, table string }{{"none", "orders"}, {"shop", "Orders"}, {"shop", ""}, {"", "orders"}} {
		if got, err := two.Table(of.database, of.table); got != nil || err != nil {
			t.Error(of, got, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "shop", "functions", "mask.yaml"))
	if want := "class: mask\nlanguage: GO\nusing:\n  - kind: JAR\n    path: /a.jar\n"; err != nil || string(text) != want {
		t.Errorf("the file is %q %v, want %q", text, err, want)
	}
	must(t, two.DropTable("shop", "orders"))
	must(t, two.DropTable("shop", "orders"))
	must(t, two.DropFunction("shop", "mask"))
	if got, err := one.Table("shop", "orders"); got != nil || err != nil {
		t.Error(got, err)
	}
	must(t, two.DropDatabase("shop"))
	if names, err := one.Databases(); err != nil || !slices.Equal(names, []string{"default"}) {
		t.Error(names, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "shop")); !os.IsNotExist(err) {
		t.Error("the directory of a database that was dropped is there", err)
	}
}

func TestChangesOfSeveralSessions(t *testing.T) {
	dir := t.TempDir()
	one, two := open(t, dir), open(t, dir)
	put := func(c *Catalog, comment string) error {
		return c.PutTable("default", "t", &catalog.Table{Comment: comment})
	}
	look := func(c *Catalog) string {
		t.Helper()
		switch got, err := c.Table("default", "t"); {
		case err != nil:
			t.Fatal(err)
			return ""
		case got == nil:
			return "none"
		default:
			return got.Comment
		}
	}
	must(t, put(one, "a"))
	wantError(t, put(two, "b"), "another session has made or changed it meanwhile")
	if got := look(two); got != "a" {
		t.Error(got)
	}
	must(t, put(two, "b"))
	must(t, put(two, "c"))
	wantError(t, put(one, "d"), "another session has made or changed it meanwhile")
	if got := look(one); got != "c" {
		t.Error(got)
	}
	must(t, put(one, "e"))
	files, err := os.ReadDir(filepath.Join(dir, "default", "tables"))
	if err != nil || len(files) != 2 || files[0].Name() != "t.2.yaml" || files[1].Name() != "t.3.yaml" {
		t.Error(files, err)
	}
	three := open(t, dir) // it has not looked
	wantError(t, put(three, "f"), "another session has made or changed it meanwhile")
	if got := look(three); got != "e" {
		t.Error(got)
	}
	must(t, three.DropTable("default", "t"))
	if got := look(one); got != "none" {
		t.Error(got)
	}
	must(t, put(one, "g"))
}

// Of many that change at once, each change is seen whole, and none is lost unsaid. One may
// be said to be lost that others have built on.
func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	var group sync.WaitGroup
	var mu sync.Mutex
	done, refused := 0, 0
	for range 8 {
		group.Go(func() {
			c := open(t, dir)
			for range 20 {
				got, err := c.Table("default", "t")
				if err != nil {
					t.Error(err)
					return
				}
				n := 0
				if got != nil {
					if _, err := fmt.Sscan(got.Comment, &n); err != nil {
						t.Error(err)
					}
				}
				err = c.PutTable("default", "t", &catalog.Table{Comment: fmt.Sprint(n + 1)})
				mu.Lock()
				if err == nil {
					done++
				} else {
					refused++
				}
				mu.Unlock()
				if err != nil && !strings.Contains(err.Error(), "another session") {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got, err := open(t, dir).Table("default", "t")
	must(t, err)
	n := 0
	if _, err := fmt.Sscan(got.Comment, &n); err != nil || n < done || n > done+refused {
		t.Errorf("%s %v after %d changes, and %d that were refused", got.Comment, err, done, refused)
	}
}

// blinking has nothing in the listing of a directory, time after time.
type blinking struct {
	fs.FileSystem
	listed int
}

func (b *blinking) List(ctx context.Context, dir fs.Location) ([]fs.Entry, error) {
	if b.listed++; b.listed%2 == 1 {
		return nil, nil
	}
	return b.FileSystem.List(ctx, dir)
}

// A listing while versions are replaced may have none of them.
func TestAListingThatMissesAll(t *testing.T) {
	dir := at(t, t.TempDir())
	must(t, NewStore(local.FileSystem{}, dir).Put("c", &catalog.Definition{Comment: "there"}))
	s := NewStore(&blinking{FileSystem: local.FileSystem{}}, dir)
	if got, err := s.Get("c"); err != nil || got == nil {
		t.Error(got, err)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	must(t, c.PutTable("default", "good", &catalog.Table{}))
	tables := filepath.Join(dir, "default", "tables")
	for name, of := range map[string]struct{ text, want string }{
		"empty": {"", "empty.yaml: EOF"}, "yaml": {"a: [", "yaml.yaml: "}, "unknown": {"kind: table\ncolour: red\n", "field colour not found"},
		"kind": {"kind: tree\n", `kind is "tree", want table or view`}, "type": {"kind: table\ncolumns: [{name: a, type: INTT}]\n", "column a: type INTT"},
		"both": {"kind: table\ncolumns: [{name: a, type: INT, as: b, metadata: c}]\n", "computed and metadata"}, "time": {"kind: table\ncolumns: [{name: a, type: INT, time: now}]\n", "ROWTIME or PROCTIME"},
	} {
		must(t, os.WriteFile(filepath.Join(tables, name+".yaml"), []byte(of.text), 0o600))
		_, err := c.Table("default", name)
		wantError(t, err, of.want)
	}
	for _, other := range []string{"notes.txt", "a.0.yaml", "a.01.yaml", "a.b.yaml", "%zz.yaml", "%6.yaml", "a b.yaml", ".yaml"} {
		must(t, os.WriteFile(filepath.Join(tables, other), nil, 0o600))
	}
	if names, err := c.Tables("default"); err != nil || len(names) != 8 {
		t.Error(names, err)
	}
	if got, err := c.Table("default", "good"); got == nil || err != nil {
		t.Error(got, err)
	}
	wantError(t, c.PutTable("default", "x", &catalog.Table{Schema: catalog.Schema{Columns: []catalog.Column{{Name: "s", Type: types.Of(types.Symbol)}}}}), "cannot be kept in a file")
	wantError(t, c.PutTable("default", "m", &catalog.Table{Kind: catalog.MaterializedTable}), "a materialized table is not kept in files")
	wantError(t, c.PutTable("default", "", &catalog.Table{}), "a name is empty")
}

func TestStore(t *testing.T) {
	dir := t.TempDir()
	one, two := NewStore(local.FileSystem{}, at(t, dir)), NewStore(local.FileSystem{}, at(t, dir))
	d := &catalog.Definition{Comment: "c", Options: map[string]string{"type": "file", "path": "/x"}}
	must(t, one.Put("c1", d))
	if got, err := two.Get("c1"); err != nil || !reflect.DeepEqual(got, d) {
		t.Error(got, err)
	}
	// As Flink writes it.
	must(t, os.WriteFile(filepath.Join(dir, "theirs.yaml"), []byte("type: generic_in_memory\ndefault-database: dd\n"), 0o600))
	if names, err := two.Names(); err != nil || !slices.Equal(names, []string{"c1", "theirs"}) {
		t.Error(names, err)
	}
	if got, err := two.Get("theirs"); err != nil || got.Options["default-database"] != "dd" {
		t.Error(got, err)
	}
	must(t, two.Drop("c1"))
	if got, err := one.Get("c1"); got != nil || err != nil {
		t.Error(got, err)
	}
	wantError(t, one.Put("x", &catalog.Definition{Options: map[string]string{"comment": "x"}}), "cannot have an option 'comment'")
}

func FuzzNames(f *testing.F) {
	f.Add("orders", 0)
	f.Add("Ünit/..", 3)
	f.Fuzz(func(t *testing.T, name string, version int) {
		file := fileOf(name, version)
		if strings.ContainsAny(file, "/\\\x00") {
			t.Errorf("%q has a file %q", name, file)
		}
		got, n, ok := parseFile(file)
		if want := name != "" && version >= 0; ok != want || ok && (got != name || n != version) {
			t.Errorf("%q of %d is %q, which is read as %q of %d, %v", name, version, file, got, n, ok)
		}
	})
}

func FuzzTable(f *testing.F) {
	text, err := encodeTable(orders())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("kind: view\nquery: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := decodeTable(text)
		if err != nil {
			return
		}
		again, err := encodeTable(table)
		if err != nil {
			return // a column of a type that is written and has no values
		}
		if got, err := decodeTable(again); err != nil || !reflect.DeepEqual(got, table) {
			t.Errorf("%q\nbecomes %+v %v\nand was %+v", again, got, err, table)
		}
	})
}
