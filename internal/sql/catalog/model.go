package catalog

import (
	"fmt"
	"maps"

	"github.com/weirstream/weir/types"
)

// Model says what rows a model takes and gives. Models live as long as the session.
type Model struct {
	Input, Output []types.Field
	Options       map[string]string
	Comment       string
	Temporary     bool
}

// Model gives the model of a path; nil: there is none.
func (m *Manager) Model(p Path) *Model { return m.models[p] }

// PutModel makes a model, or replaces it.
func (m *Manager) PutModel(p Path, model *Model) { m.models[p] = model }

// DropModel removes a model.
func (m *Manager) DropModel(p Path, temporary, ifThere bool) error {
	if old := m.models[p]; old == nil || old.Temporary != temporary {
		if ifThere {
			return nil
		}
		return fmt.Errorf("Model with identifier '%s' does not exist.", p) //lint:ignore ST1005 Flink's words
	}
	delete(m.models, p)
	return nil
}

// Models gives the names of a database's models.
func (m *Manager) Models(catalog, database string) []string {
	found := map[string]bool{}
	for p := range m.models {
		if p.Catalog == catalog && p.Database == database {
			found[p.Object] = true
		}
	}
	return sorted(found)
}

// WithOptions is a copy with other options.
func (m *Model) WithOptions(set map[string]string, reset []string) *Model {
	c := *m
	c.Options = maps.Clone(m.Options)
	maps.Copy(c.Options, set)
	for _, k := range reset {
		delete(c.Options, k)
	}
	return &c
}
