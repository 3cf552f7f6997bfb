package recorded

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Material finds a folder or file of the reference material that lies beside
// the module. A checkout without it has nothing to compare with: the test is
// skipped.
func Material(t testing.TB, path string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
	}
	found := filepath.Join(dir, "..", "shared", path)
	if _, err := os.Stat(found); err != nil {
		t.Skipf("the recordings of a genuine Flink are not here (%v): nothing to compare with", err)
	}
	return found
}

// A Recording is one request to a genuine Flink and its answer.
type Recording struct {
	Name    string `json:"name"`
	Request struct {
		Method string         `json:"method"`
		Path   string         `json:"path"`
		Query  string         `json:"query"`
		Body   jsontext.Value `json:"body"`
	} `json:"request"`
	Response struct {
		Status int            `json:"status"`
		Kind   string         `json:"body_kind"`
		Body   jsontext.Value `json:"body"`
	} `json:"response"`
}

// Load reads all recordings of the JobManager's API, by name.
func Load(t testing.TB) []*Recording {
	t.Helper()
	return load(t, "golden/rest")
}

// LoadGateway reads all recordings of the SQL gateway's API, in the order in which they
// were made.
func LoadGateway(t testing.TB) []*Recording {
	t.Helper()
	return load(t, "golden/gateway")
}

// LoadWalk reads the recordings of a newcomer's first hour, in the order in which they
// were made.
func LoadWalk(t testing.TB) []*Recording {
	t.Helper()
	return load(t, "golden/walk")
}

func load(t testing.TB, dir string) []*Recording {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Material(t, dir), "*.http.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	if dir != "golden/rest" {
		slices.SortFunc(files, func(a, b string) int { return ordinal(a) - ordinal(b) })
	}
	all := make([]*Recording, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = &Recording{}
		if err := json.Unmarshal(text, all[i], jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return all
}

// ordinal is the number with which a recording's file begins.
func ordinal(file string) int {
	text, _, _ := strings.Cut(filepath.Base(file), "-")
	n, _ := strconv.Atoi(text)
	return n
}

// Body is the body of the request as it was sent; false: it is only described.
func (r *Recording) Body(t testing.TB) (string, bool) {
	switch r.Request.Body.Kind() {
	case '"':
		var text string
		if err := json.Unmarshal(r.Request.Body, &text); err != nil {
			t.Fatal(r.Name, err)
		}
		return text, !strings.HasPrefix(text, "multipart") && !strings.HasPrefix(text, "<")
	case 'n', 0:
		return "", true
	}
	return string(r.Request.Body), true
}
