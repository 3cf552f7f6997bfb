package engine

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/filecatalog"
	"github.com/weirstream/weir/internal/sql/session"
)

// The types of catalogs.
const (
	inMemory = "generic_in_memory"
	inFiles  = "file"
)

// catalogOptions are those of each type, beside the type itself.
var catalogOptions = map[string][]string{inMemory: {defaultDatabase}, inFiles: {defaultDatabase, catalogPath}}

// The options of catalogs.
const (
	catalogType     = "type"
	catalogPath     = "path"
	defaultDatabase = "default-database"
)

// checkCatalog refuses options that no catalog has.
func checkCatalog(options map[string]string) error {
	kind, ok := options[catalogType]
	if !ok {
		//lint:ignore ST1005 Flink's words
		return fmt.Errorf("Catalog options do not contain an option key 'type' for discovering a catalog.")
	}
	known, ok := catalogOptions[kind]
	if !ok {
		return fmt.Errorf("there is no catalog of type '%s'; there are %s", kind, strings.Join(slices.Sorted(maps.Keys(catalogOptions)), ", "))
	}
	for _, k := range slices.Sorted(maps.Keys(options)) {
		if k != catalogType && !slices.Contains(known, k) {
			return fmt.Errorf("a catalog of type '%s' has no option '%s'; it has %s", kind, k, strings.Join(known, ", "))
		}
	}
	return nil
}

// openCatalog makes a catalog of its options.
func (o *Options) openCatalog(options map[string]string) (catalog.Catalog, error) {
	if err := checkCatalog(options); err != nil {
		return nil, err
	}
	kind := options[catalogType]
	database := options[defaultDatabase]
	if database == "" {
		database = "default"
	}
	if kind == inMemory || o.Rehearsal {
		return catalog.NewMemory(database), nil
	}
	path, ok := options[catalogPath]
	if !ok {
		return nil, fmt.Errorf("a catalog of type '%s' needs the option '%s': the directory that it is kept in", kind, catalogPath)
	}
	dir, err := onDisk(path)
	if err != nil {
		return nil, fmt.Errorf("option '%s': a catalog is kept on the disk of the SQL session: %w", catalogPath, err)
	}
	return filecatalog.Open(o.Files, dir, database)
}

// onDisk is a path on the disk of the process that has the session; a relative one is below
// where that runs.
func onDisk(path string) (fs.Location, error) {
	switch rest, url := strings.CutPrefix(path, "file:"); {
	case url:
		path = "/" + strings.TrimLeft(rest, "/")
	case strings.Contains(path, "://"):
		return "", fmt.Errorf("'%s' is not there", path)
	}
	if path == "" {
		return "", errors.New("its name is empty")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return fs.Parse(filepath.ToSlash(absolute))
}

// store opens the store of catalogs that the settings name; nil: none.
func (o *Options) store(settings map[string]string) (catalog.Store, error) {
	c, err := config.New(known(settings))
	if err != nil || o.Rehearsal || config.TableCatalogStoreKind.In(c) != inFiles {
		return nil, nil // what is wrong with a setting, statements say
	}
	path, ok := config.TableCatalogStorePath.Lookup(c)
	if !ok {
		return nil, fmt.Errorf("%s is '%s', and %s, its directory, is not set", config.TableCatalogStoreKind.Key, inFiles, config.TableCatalogStorePath.Key)
	}
	dir, err := onDisk(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", config.TableCatalogStorePath.Key, err)
	}
	return filecatalog.NewStore(o.Files, dir), nil
}

func (st *statement) createCatalog(c *ast.CreateCatalog) (*session.Result, error) {
	options := pairs(c.Options)
	if slices.Contains(st.names.Catalogs(), c.Name.Text) && c.IfNotExists {
		return done(), nil
	}
	if path, given := options[catalogPath]; given && options[catalogType] == inFiles {
		if dir, err := onDisk(path); err == nil { // so that it means the same elsewhere
			options[catalogPath] = strings.TrimPrefix(string(dir), "file:")
		}
	}
	made, err := st.o.openCatalog(options)
	if err != nil {
		return nil, expr.Refuse(c.Span, "Unable to create catalog '%s': %v", c.Name.Text, err)
	}
	if err := st.names.AddCatalog(c.Name.Text, made, &catalog.Definition{Comment: text(c.Comment), Options: options}); err != nil {
		return nil, &catalog.Failure{What: "CREATE CATALOG " + c.Name.Text, Why: err}
	}
	return done(), nil
}
