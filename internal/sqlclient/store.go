package sqlclient

import (
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sqlgateway/client"
)

// A store holds the newest rows of a result for a view: of a changelog all changes, of a
// table the rows that are in it. Its methods may be called from any goroutine.
type store struct {
	changes bool
	limit   int

	mu   sync.Mutex
	rows []client.Row
	end  bool
	err  error
}

// add takes rows that came, and why no more will come, if that is so.
func (s *store) add(rows []client.Row, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rows {
		if !s.changes && (r.Kind == batch.UpdateBefore || r.Kind == batch.Delete) {
			s.remove(r)
			continue
		}
		s.rows = append(s.rows, r)
	}
	if over := len(s.rows) - s.limit; over > 0 {
		s.rows = slices.Delete(s.rows, 0, over)
	}
	switch {
	case errors.Is(err, io.EOF):
		s.end = true
	case err != nil:
		s.err = err
	}
}

// remove takes the newest row with the same fields out of the table.
func (s *store) remove(r client.Row) {
	for i := len(s.rows) - 1; i >= 0; i-- {
		if slices.EqualFunc(s.rows[i].Fields, r.Fields, sameField) {
			s.rows = slices.Delete(s.rows, i, i+1)
			return
		}
	}
}

func sameField(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// snapshot copies the rows as they are, and says what ended them, if anything did.
func (s *store) snapshot() (rows []client.Row, end bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rows), s.end, s.err
}
