package filecatalog

import (
	"fmt"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/sql/catalog"
)

// commentKey stands among a catalog's options for its comment.
const commentKey = "comment"

// Store keeps the definitions of catalogs, each in a file of its own with the options as
// its keys.
type Store struct{ of *versions }

var _ catalog.Store = Store{}

// NewStore gives the store of a directory.
func NewStore(files fs.FileSystem, dir fs.Location) Store { return Store{versionsIn(files, dir)} }

// Names are those of all catalogs, sorted.
func (s Store) Names() ([]string, error) { return s.of.names() }

// Get gives a definition; nil: there is none of this name.
func (s Store) Get(name string) (*catalog.Definition, error) {
	text, err := s.of.get(name)
	if text == nil || err != nil {
		return nil, err
	}
	options, err := decode[map[string]string](text)
	if err != nil {
		return nil, s.of.unreadable(name, err)
	}
	d := &catalog.Definition{Comment: options[commentKey], Options: options}
	delete(options, commentKey)
	return d, nil
}

// Put makes a definition, or replaces it.
func (s Store) Put(name string, d *catalog.Definition) error {
	options := map[string]string{}
	for k, v := range d.Options {
		if k == commentKey {
			return fmt.Errorf("a catalog that is kept in a file cannot have an option '%s'", commentKey)
		}
		options[k] = v
	}
	if d.Comment != "" {
		options[commentKey] = d.Comment
	}
	text, err := encode(options)
	if err != nil {
		return err
	}
	return s.of.put(name, text)
}

// Drop removes a definition.
func (s Store) Drop(name string) error { return s.of.drop(name) }
