package sqlrun_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// Scripts of testdata: "sql" runs a statement and shows its schema and its rows, or why
// it was refused; "file name=…" writes a file below a directory of the script's own, which
// is $DIR in statements and answers, and "files" lists those that are there. What files
// hold is shown by reading them.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		runner := sqlrun.NewEmbedded(nil, nil)
		defer runner.Close()
		e := engine.New(engine.Options{Registry: builtin.Registry(), Connectors: builtin.Connectors(), Runner: runner, Settings: map[string]string{
			"execution.runtime-mode": "batch", "table.local-time-zone": "UTC"}, Now: func() time.Time { return time.Unix(1_700_000_000, 0) }})
		s, err := e.Open(t.Context(), session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		dir := t.TempDir()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "file":
				return writeFile(t, dir, d)
			case "files":
				return listFiles(t, dir)
			}
			return strings.ReplaceAll(answer(t.Context(), s, strings.ReplaceAll(d.Input, "$DIR", dir)), dir, "$DIR")
		})
	})
}

func answer(ctx context.Context, s session.Session, statement string) string {
	r, err := s.Execute(ctx, statement, nil)
	if err != nil {
		return "error: " + err.Error()
	}
	defer r.Rows.Close()
	var out strings.Builder
	if r.Query {
		for i, f := range r.Schema {
			if i > 0 {
				out.WriteString(", ")
			}
			out.WriteString(f.Name + " " + f.Type.String())
		}
		out.WriteString("\n")
	}
	for {
		b, err := r.Rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			return out.String() + "error: " + err.Error()
		}
		b = b.Compact()
		for i := range b.N {
			for k, c := range b.Cols {
				if k > 0 {
					out.WriteString(" | ")
				}
				if c.IsNull(i) {
					out.WriteString("<NULL>")
				} else {
					out.WriteString(r.Show(r.Schema[k].Type, c, i))
				}
			}
			out.WriteString("\n")
		}
	}
}

// writeFile writes a file of a script, whose text is a Go string without its quotes if it
// is "quoted"; one without a text is removed.
func writeFile(t *testing.T, dir string, d *datadriven.TestData) string {
	t.Helper()
	var name string
	d.ScanArgs(t, "name", &name)
	path, text := filepath.Join(dir, name), d.Input+"\n"
	if d.HasArg("quoted") {
		var err error
		if text, err = strconv.Unquote(`"` + strings.ReplaceAll(d.Input, "\n", "") + `"`); err != nil {
			t.Fatal(err)
		}
	}
	if d.Input == "" {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return ""
}

// hashed is the part of a name that depends on where the script's directory is.
var hashed = regexp.MustCompile(`-([0-9a-f]{8}|[0-9a-f]{16})-`)

// listFiles gives the names of all files of a script.
func listFiles(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out.WriteString(hashed.ReplaceAllString(strings.TrimPrefix(path, dir+"/"), "-…-") + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
