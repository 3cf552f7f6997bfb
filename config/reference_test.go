package config

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// reference are Flink's keys that matter, and its old names, beside the module. A
// checkout without them cannot be compared.
const (
	referenceKeys    = "../../shared/reference/config/config_keys.tsv"
	referenceOldKeys = "../../shared/reference/config/config_old_keys.tsv"
	referenceAllKeys = "../../shared/reference/config/config_keys_all.tsv"
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
	keys := slices.Concat(column(t, referenceKeys, 1), column(t, referenceOldKeys, 1), column(t, referenceAllKeys, 0))
	effective := 0
	for _, key := range keys {
		if !strings.Contains(key, ".") || strings.Contains(key, "#") {
			continue // an option of a connector or a model, which is set with a table
		}
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

// otherDefaults are the options whose default is not Flink's, and why.
var otherDefaults = map[string]string{
	"env.pid.dir":                              "it is in the home of Weir",
	"io.tmp.dirs":                              "it is in the home of Weir",
	"web.tmpdir":                               "it is in the home of Weir",
	"execution.runtime-mode":                   "a program whose sources all end is a batch",
	"historyserver.web.address":                "nothing listens beyond the loopback unless told to",
	"jobmanager.bind-host":                     "nothing listens beyond the loopback unless told to",
	"taskmanager.bind-host":                    "nothing listens beyond the loopback unless told to",
	"rest.bind-address":                        "nothing listens beyond the loopback unless told to",
	"jobmanager.rpc.address":                   "Flink's distribution sets it so",
	"rest.address":                             "Flink's distribution sets it so",
	"rest.bind-port":                           "Flink's is rest.port, which is that one",
	"table.optimizer.join.broadcast-threshold": "a join that all rows of one side are brought to runs in the task of the other side's",
	"resourcemanager.standalone.start-up-time": "Flink's is slot.request.timeout, which is that long",
}

// Each option has Flink's default, unless it is listed above.
func TestDefaultsAreFlinks(t *testing.T) {
	keys, defaults := column(t, referenceAllKeys, 0), column(t, referenceAllKeys, 1)
	compared := 0
	for i, key := range keys {
		option, ok := registry[key]
		if !ok || option.info().NoEffect != "" {
			continue
		}
		compared++
		text := strings.Trim(strings.TrimSpace(defaults[i]), `"`)
		ours := option.info().Default
		same := ours == text
		switch {
		case text == "infinite" && option.info().Type == size.name:
			text = "9223372036854775807 bytes"
		case text == "infinite":
			text = "2147483647"
		}
		if want, err := option.read(text); err == nil && !same {
			got, err := option.read(ours)
			same = err == nil && reflect.DeepEqual(got, want)
		}
		if _, listed := otherDefaults[key]; same == listed {
			t.Errorf("%s: %q by default, %q in Flink; listed as another one: %t", key, ours, text, listed)
		}
	}
	if compared < 100 {
		t.Errorf("only %d defaults were compared", compared)
	}
}
