package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSQLGuide asks the questions of docs/guide/sql.md in the directory that it names, each
// in a session of its own, and compares the answers.
func TestSQLGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("../../docs/guide/sql")); err != nil {
		t.Fatal(err)
	}
	tables, err := os.ReadFile(filepath.Join(home, "tables.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "```sql\n"+string(tables)+"```") {
		t.Error("the guide does not show tables.sql as it is")
	}
	questions := 0
	for _, block := range strings.Split(string(text), "```sql\n")[1:] {
		question, rest, _ := strings.Cut(block, "```\n")
		answer, ok := strings.CutPrefix(rest, "\n```text\n")
		if !ok {
			continue
		}
		answer, _, _ = strings.Cut(answer, "```")
		questions++
		if got := asked(t, home, question); got != answer {
			t.Errorf("%sgives\n%s\nthe guide says\n%s", question, got, answer)
		}
	}
	if questions < 11 {
		t.Errorf("the guide has only %d questions", questions)
	}
}

// asked gives what weir sql prints for statements, without its prompts.
func asked(t *testing.T, home, statements string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "weir"), "sql", "-i", "tables.sql")
	cmd.Dir, cmd.Stdin = home, strings.NewReader(statements)
	cmd.Env = append(os.Environ(), "HOME="+home, "WEIR_HOME="+home, "WEIR_PROPERTIES=execution.target: local\ntable.local-time-zone: UTC")
	out, _ := cmd.Output() // what is printed tells
	_, answer, _ := strings.Cut(string(out), "tables.sql\n")
	answer, _, _ = strings.Cut(strings.ReplaceAll(answer, "Flink SQL> ", ""), "\nShutting down")
	return strings.TrimSpace(regexp.MustCompile(`\n{2,}`).ReplaceAllString(answer, "\n\n")) + "\n"
}
