package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"
)

// TestKeysReferToRows generates the smallest tables, in which all keys are changed.
func TestKeysReferToRows(t *testing.T) {
	dir := t.TempDir()
	if err := generate(dir, 0.001); err != nil {
		t.Fatal(err)
	}
	customers, parts, orders := keysIn(t, dir, "customer", 0), keysIn(t, dir, "part", 0), keysIn(t, dir, "orders", 0)
	suppliers, offers := keysIn(t, dir, "supplier", 0), keysIn(t, dir, "partsupp", 0, 1)
	for _, n := range []struct {
		table string
		rows  map[string]bool
		want  int
	}{{"customer", customers, 150}, {"part", parts, 200}, {"orders", orders, 1500}, {"supplier", suppliers, 10}, {"partsupp", offers, 800}} {
		if len(n.rows) != n.want {
			t.Errorf("%s: %d keys, want %d", n.table, len(n.rows), n.want)
		}
	}
	refer(t, keysIn(t, dir, "orders", 1), customers)
	refer(t, keysIn(t, dir, "lineitem", 0), orders)
	refer(t, keysIn(t, dir, "lineitem", 1, 2), offers)
	refer(t, keysIn(t, dir, "partsupp", 1), suppliers)
	if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil {
		t.Error(err)
	}
}

// keysIn are the values of some columns of a table.
func keysIn(t *testing.T, dir, table string, columns ...int) map[string]bool {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, table, table+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, r := range rows {
		key := ""
		for _, c := range columns {
			key += r[c] + " "
		}
		keys[key] = true
	}
	return keys
}

func refer(t *testing.T, from, to map[string]bool) {
	t.Helper()
	for key := range from {
		if !to[key] {
			t.Errorf("nothing has the key %s", key)
			return
		}
	}
}
