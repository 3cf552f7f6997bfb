package config

import (
	"os"
	"strings"
	"testing"
)

// reference are Flink's keys that matter, and its old names, beside the module. A
// checkout without them cannot be compared.
const (
	referenceKeys    = "../../shared/reference/config/config_keys.tsv"
	referenceOldKeys = "../../shared/reference/config/config_old_keys.tsv"
)

// column gives one column of a table with a heading.
func column(t *testing.T, path string, n int) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("the reference of Flink's keys is not here: %v", err)
	}
	var values []string
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if fields := strings.Split(line, "\t"); i > 0 && len(fields) > n {
			values = append(values, fields[n])
		}
	}
	return values
}

// Every key of Flink's can be explained: it has an effect, or a reason of its own
// why not.
func TestEveryKeyOfFlinksIsExplained(t *testing.T) {
	keys := append(column(t, referenceKeys, 1), column(t, referenceOldKeys, 1)...)
	effective := 0
	for _, key := range keys {
		key = strings.NewReplacer("<name>", "prom", "<parameter>", "port", "*", "x").Replace(key)
		e, err := Explain(key)
		switch {
		case err != nil:
			t.Errorf("%s: %v", key, err)
		case e.Why == unexplained || e.Why == "" && len(e.Options) == 0:
			t.Errorf("%s has neither an effect nor a reason: %+v", key, e)
		case e.Why == "":
			effective++
		}
	}
	if len(keys) < 400 || effective < 100 {
		t.Errorf("of %d keys %d have an effect", len(keys), effective)
	}
}
