package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/session"
)

// TestComplete completes texts in a session with a table, a view and a database. The bar is
// where the cursor is.
func TestComplete(t *testing.T) {
	e := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: builtin.Connectors(), Settings: map[string]string{"execution.runtime-mode": "batch"}, Now: time.Now})
	s, err := e.Open(t.Context(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"CREATE TABLE orders (id INT, customer STRING)", "CREATE VIEW ordered AS SELECT 1 AS number1", "CREATE DATABASE db1"} {
		if _, err := s.Execute(t.Context(), statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ text, want, not string }{
		{"SHOW TAB|", "TABLES", "VIEWS"},
		{"|", "SELECT", "orders"},
		{"SELECT * FROM |", "orders ordered db1 default_catalog LATERAL", "id"},
		{"SELECT * FROM OR|", "orders ordered", "db1"},
		{"SELECT * FROM default_database.o|", "default_database.orders default_database.ordered", "orders"},
		{"SELECT * FROM db1.|", "", "db1.orders"},
		{"SELECT | FROM orders AS o", "id customer o", "UPPER"},
		{"SELECT upp| FROM orders", "UPPER", "id"},
		{"SELECT cu| FROM orders", "customer", "id"},
		{"SELECT o.| FROM orders AS o", "o.id o.customer", "o.o"},
		{"SELECT x.| FROM orders AS o", "", "x.id"},
		{"WITH w AS (SELECT 1) SELECT * FROM w|", "w", "orders"},
		{"SELECT 'or|", "", "orders"},
		{"USE |", "db1 default_database CATALOG", "orders"},
		{"USE CATALOG |", "default_catalog", "db1"},
	} {
		at := strings.Index(c.text, "|")
		got, err := s.Complete(t.Context(), strings.Replace(c.text, "|", "", 1), at)
		if err != nil {
			t.Error(err)
		}
		all := " " + strings.Join(got, " ") + " "
		for w := range strings.FieldsSeq(c.want) {
			if !strings.Contains(all, " "+w+" ") {
				t.Errorf("%s: %s is missing: %.300s", c.text, w, all)
			}
		}
		if strings.Contains(all, " "+c.not+" ") {
			t.Errorf("%s: %s is there: %.300s", c.text, c.not, all)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
