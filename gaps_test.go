package weir

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryGapHasItsTest reads docs/gaps.md: each row names tests that exist.
func TestEveryGapHasItsTest(t *testing.T) {
	text, err := os.ReadFile("docs/gaps.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "--") || strings.Contains(cells[1], "Flink has") {
			continue
		}
		rows++
		names := regexp.MustCompile("`([^`]+)\\.(Test\\w+)`").FindAllStringSubmatch(cells[3], -1)
		if len(names) == 0 {
			t.Errorf("no test is named:%s", cells[1])
		}
		for _, name := range names {
			if !hasTest(t, name[1], name[2]) {
				t.Errorf("package %s has no %s, named for:%s", name[1], name[2], cells[1])
			}
		}
	}
	if rows == 0 {
		t.Error("docs/gaps.md has no rows")
	}
}

func hasTest(t *testing.T, pkg, name string) bool {
	files, err := filepath.Glob(filepath.Join(pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
