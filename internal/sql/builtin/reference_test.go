package builtin

import (
	"flag"
	"os"
	"testing"
)

var write = flag.Bool("write", false, "write the page of functions")

// docs/reference/functions.md is what Reference writes.
func TestReferenceIsCurrent(t *testing.T) {
	const path = "../../../docs/reference/functions.md"
	if *write {
		if err := os.WriteFile(path, []byte(Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != Reference() {
		t.Error("docs/reference/functions.md is not what the registry says; run make docs")
	}
}

func TestEveryFunctionIsDocumented(t *testing.T) {
	for _, f := range Registry().Functions() {
		if f.Usage == "" || f.Doc == "" || f.Category == "" {
			t.Errorf("function %s lacks its category, usage or sentence", f.Name)
		}
	}
}
