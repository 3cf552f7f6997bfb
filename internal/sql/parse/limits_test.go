package parse

import (
	"errors"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/sql/ast"
)

// refused gives the error of a text that must be refused.
func refused(t *testing.T, source string) *Error {
	t.Helper()
	_, err := Statement(source)
	e := &Error{}
	if !errors.As(err, &e) {
		t.Fatalf("%.60s…: not refused: %v", source, err)
	}
	if n := len(e.Error()); n > 1000 {
		t.Errorf("%.60s…: an error of %d bytes", source, n)
	}
	return e
}

func TestLongTexts(t *testing.T) {
	for name, source := range map[string]string{
		"a text of 1 MB":           "SELECT '" + strings.Repeat("x", 1<<20) + "' FROM t",
		"a sum of 1 MB":            "SELECT 1" + strings.Repeat(" + 1", 1<<18) + " FROM t",
		"a list of 1 MB":           "SELECT a FROM t WHERE a IN (1" + strings.Repeat(", 1234567", 120_000) + ")",
		"10,000 columns":           "SELECT c" + strings.Repeat(", a.b AS c", 10_000) + " FROM t",
		"a table of 10,000":        "CREATE TABLE t (c INT" + strings.Repeat(", column1 ROW<a INT>", 10_000) + ")",
		"10,000 joins":             "SELECT * FROM t" + strings.Repeat(" JOIN u ON TRUE", 10_000),
		"10,000 unions":            "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", 10_000),
		"5,000 parentheses":        "SELECT " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000),
		"5,000 queries":            "SELECT * FROM " + strings.Repeat("(SELECT * FROM ", 2500) + "t" + strings.Repeat(")", 2500),
		"5,000 queries as values":  strings.Repeat("SELECT (", 1600) + "SELECT 1" + strings.Repeat(")", 1600),
		"5,000 negations":          "SELECT " + strings.Repeat("NOT ", 5000) + "a",
		"5,000 minus signs":        "SELECT " + strings.Repeat("- ", 5000) + "a",
		"5,000 arrays":             "SELECT CAST(a AS " + strings.Repeat("ARRAY<", 5000) + "INT" + strings.Repeat(">", 5000) + ")",
		"5,000 indices":            "SELECT a" + strings.Repeat("[1]", 5000),
		"100,000 empty statements": "SELECT 1" + strings.Repeat(";", 100_000),
	} {
		s, err := Statement(source)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := Statement(ast.String(s))
		if err != nil || !ast.Equal(s, again) {
			t.Errorf("%s: is not read as it is written: %v", name, err)
		}
	}
}

func TestTooDeepTexts(t *testing.T) {
	for name, source := range map[string]string{
		"parentheses":    "SELECT " + strings.Repeat("(", 1<<16),
		"in FROM":        "SELECT * FROM " + strings.Repeat("(", 1<<16),
		"queries":        strings.Repeat("(", 1<<16) + "SELECT 1",
		"signs":          "SELECT " + strings.Repeat("- ", 1<<15) + "1",
		"calls":          "SELECT " + strings.Repeat("f(", 1<<15) + "1",
		"cases":          "SELECT " + strings.Repeat("CASE WHEN ", 1<<15) + "1",
		"arrays":         "SELECT " + strings.Repeat("ARRAY[", 1<<15) + "1",
		"types":          "SELECT CAST(a AS " + strings.Repeat("ARRAY<", 1<<15) + "INT",
		"rows":           "SELECT CAST(a AS " + strings.Repeat("ROW<a ", 1<<15) + "INT",
		"grouping sets":  "SELECT a FROM t GROUP BY " + strings.Repeat("ROLLUP(", 1<<15) + "a",
		"patterns":       "SELECT * FROM t MATCH_RECOGNIZE (PATTERN " + strings.Repeat("(", 1<<16),
		"common tables":  strings.Repeat("WITH a AS (", 1<<15) + "SELECT 1",
		"table calls":    "SELECT * FROM " + strings.Repeat("TABLE(f(", 1<<15) + "1",
		"right operands": "SELECT " + strings.Repeat("a IN (", 1<<15) + "1",
	} {
		if e := refused(t, source); !strings.Contains(e.Message, "levels deep") {
			t.Errorf("%s: %v", name, e)
		}
	}
}

func TestBadBytes(t *testing.T) {
	for _, c := range []struct{ source, message, place string }{
		{"SELECT \x00 1", "NUL byte", "line 1, column 8"},
		{"SELECT 'a\x00b'", "", ""}, // a text may hold any character
		{"SELECT `a\x00b`", "NUL byte", "line 1, column 10"},
		{"SELECT a\xff FROM t", "not valid UTF-8", "line 1, column 9"},
		{"SELECT 'é\xff'", "not valid UTF-8", "line 1, column 10"},
		{"SELECT 1, -- \xff\n 2", "", ""},
		{"SELECT\n\n  'abc", "' is missing", "line 3, column 3"},
		{"SELECT '日本' `x", "` is missing", "line 1, column 15"},
		{"/* a\nb", "*/ is missing", "line 2, column 2"},
		{"SELECT 1 /*+ hint", "", "line 1, column 10"},
		{"SELECT X'4", "' is missing", "line 1, column 8"},
		{"", "there is no statement", "line 1, column 1"},
		{" \n ", "there is no statement", "line 2, column 2"},
		{"\ufeffSELECT 1", "", ""}, // a file's byte order mark
		{"SELECT \ufeff1", "no meaning", "line 1, column 8"},
	} {
		if c.place == "" {
			if _, err := Statement(c.source); err != nil {
				t.Errorf("%q: %v", c.source, err)
			}
			continue
		}
		e := refused(t, c.source)
		if !strings.Contains(e.Message, c.message) || !strings.HasPrefix(e.Error(), c.place+":") {
			t.Errorf("%q: %v", c.source, e)
		}
	}
}

// A long line is shown around the place only.
func TestLongLineOfAnError(t *testing.T) {
	e := refused(t, "SELECT "+strings.Repeat("a, ", 5000)+"FROM "+strings.Repeat("b", 5000))
	if len([]rune(e.Line)) > 200 || !strings.Contains(e.Line, "FROM") || len(e.Caret) > 200 {
		t.Errorf("%q\n%q", e.Line, e.Caret)
	}
}
