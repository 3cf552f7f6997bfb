package parse

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/sql/ast"
)

// oracle are the answers of genuine Flink, beside the module. A checkout without
// them cannot be compared.
const oracle = "../../../../shared/oracle/sql"

// row is one line of a table of the oracle, by the names of its columns.
type row map[string]string

// rows reads a table with headings, whose cells have their escapes taken off.
func rows(t testing.TB, path string) (list []row) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("the answers of Flink are not here: %v", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(whole), "\n"), "\n")
	heads := strings.Split(lines[0], "\t")
	for _, line := range lines[1:] {
		r := row{}
		for i, cell := range strings.Split(line, "\t") {
			if i < len(heads) {
				r[heads[i]] = unescape(cell)
			}
		}
		list = append(list, r)
	}
	return list
}

// unescape takes the escapes of the oracle's tables off.
func unescape(cell string) string {
	if !strings.Contains(cell, `\`) {
		return cell
	}
	var b strings.Builder
	for i := 0; i < len(cell); i++ {
		if cell[i] != '\\' || i+1 == len(cell) {
			b.WriteByte(cell[i])
			continue
		}
		i++
		switch cell[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'u':
			n, _ := strconv.ParseUint(cell[i+1:i+5], 16, 32)
			b.WriteRune(rune(n))
			i += 4
		default:
			b.WriteByte(cell[i])
		}
	}
	return b.String()
}

// stricter are statements that Flink refuses after parsing and that are refused
// here already, by what their error says; laxer are those that Flink's parser
// refuses and that are accepted on purpose.
var (
	stricter = []string{"String literal continued on same line", "{fn UPPER}", "only single statement supported"}
	laxer    = map[string]string{}
)

func isStricter(message string) bool {
	for _, s := range stricter {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}

// What Flink's parser accepts is accepted, and what it refuses is refused, at the
// same line and column where it names one.
func TestStatementsOfTheOracle(t *testing.T) {
	refused, placed, same := 0, 0, 0
	for _, r := range rows(t, filepath.Join(oracle, "statements.tsv")) {
		// The answer is that to the last statement reached: the first that fails.
		source, err := "", error(nil)
		for _, source = range strings.Split(r["statement"], " @@ ") {
			var s ast.Statement
			if s, err = Statement(source); err != nil {
				break
			}
			roundTrip(t, source, s, statementNode)
		}
		switch {
		case r["phase"] != "parse" && err != nil && !isStricter(r["error"]):
			t.Errorf("%s: refused: %v", source, err)
		case r["phase"] == "parse" && err == nil && laxer[source] == "":
			t.Errorf("%s: accepted, but Flink refuses: %s", source, r["error"])
		case r["phase"] == "parse" && err != nil:
			refused++
			e := &Error{}
			errors.As(err, &e)
			if r["line"] == "" {
				continue
			}
			placed++
			if r["line"] == strconv.Itoa(e.Position.Line) && r["column"] == strconv.Itoa(e.Column) {
				same++
				continue
			}
			t.Logf("%s: refused at %d:%d, by Flink at %s:%s: %s\n  Flink: %s", source, e.Position.Line, e.Column, r["line"], r["column"], e.Message, r["error"])
		}
	}
	t.Logf("%d statements refused as Flink's parser does; of %d with a place, %d have the same", refused, placed, same)
	if placed > 0 && same*100 < placed*95 {
		t.Errorf("only %d of %d errors are at Flink's place", same, placed)
	}
}

func TestExpressionsOfTheOracle(t *testing.T) {
	refused, placed, same := 0, 0, 0
	for _, r := range rows(t, filepath.Join(oracle, "expressions.tsv")) {
		source := r["sql_expression"]
		whole := source
		if !strings.HasPrefix(source, "SELECT ") {
			whole = "SELECT " + source
		}
		s, err := Statement(whole)
		switch {
		case r["phase"] == "parse" && err == nil && laxer[source] == "":
			t.Errorf("%s: accepted, but Flink refuses: %s", source, r["error"])
		case r["phase"] == "parse" && err != nil:
			refused++
			if _, at, ok := strings.Cut(r["error"], "at line 1, column "); ok {
				at, _, _ = strings.Cut(at, ".")
				at, _, _ = strings.Cut(at, "\n")
				at = strings.TrimSpace(strings.Split(at, " ")[0])
				e := &Error{}
				errors.As(err, &e)
				placed++
				if at == strconv.Itoa(e.Column) {
					same++
				} else {
					t.Logf("%s: refused at %d, by Flink at %s: %s\n  Flink: %s", source, e.Column, at, e.Message, r["error"])
				}
			}
		case r["phase"] != "parse" && err != nil && !isStricter(r["error"]):
			t.Errorf("%s: refused: %v\n  Flink: %s", source, err, r["error"])
		case err == nil:
			roundTrip(t, whole, s, statementNode)
		}
	}
	t.Logf("%d expressions refused as Flink's parser does; of %d with a place, %d have the same", refused, placed, same)
}

// section gives the indented lines under a key of a case of the oracle.
func section(text, key string) string {
	var lines []string
	in := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, key):
			in = true
			if rest := strings.TrimSpace(line[len(key):]); rest != "" {
				lines = append(lines, rest+"\n")
			}
		case in && strings.HasPrefix(line, "  "):
			lines = append(lines, line[2:])
		default:
			in = false
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}

func TestQueriesOfTheOracle(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(oracle, "queries", "*.case"))
	if len(files) == 0 {
		t.Skip("the answers of Flink are not here")
	}
	for _, file := range files {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources := Split(section(string(whole), "pre:"))
		sources = append(sources, Piece{Text: section(string(whole), "query:")})
		for _, source := range sources {
			list, err := Statements(source.Text)
			if err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
			}
			for _, s := range list {
				roundTrip(t, source.Text, s, statementNode)
			}
		}
	}
}

func TestNexmark(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(oracle, "nexmark", "sql", "*.sql"))
	if len(files) == 0 {
		t.Skip("the answers of Flink are not here")
	}
	for _, file := range files {
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list, err := Statements(string(whole))
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		for _, s := range list {
			roundTrip(t, string(whole), s, statementNode)
		}
		if pieces := Split(string(whole)); len(pieces) != len(list) {
			t.Errorf("%s: %d pieces of %d statements", filepath.Base(file), len(pieces), len(list))
		}
	}
}
