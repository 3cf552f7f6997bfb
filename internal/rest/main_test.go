package rest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"encoding/json/v2"

	"github.com/weirstream/weir/internal/testkit/leaks"
	"github.com/weirstream/weir/internal/worker/assignment"
)

// TestMain runs the tests. Started with WEIR_PLAN the test binary is itself an
// uploaded program: it describes the word count, or fails as it is told.
func TestMain(m *testing.M) {
	if path := os.Getenv(assignment.PlanVariable); path != "" {
		os.Exit(behave(path, os.Args[1:]))
	}
	leaks.Main(m)
}

func behave(path string, args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case "panic":
			panic("boom")
		case "exit":
			fmt.Fprintln(os.Stderr, "bad args")
			return 3
		case "delete": // of itself, which is what others may do just now
			if err := os.Remove(args[1]); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			return 3
		case "no job":
			return 0
		}
	}
	settings := map[string]string{}
	if err := json.Unmarshal([]byte(os.Getenv(assignment.SettingsVariable)), &settings); err != nil {
		return 98
	}
	g := wordCount(id(0))
	g.Name, g.Configuration = strings.Join(args, "|"), settings
	if os.WriteFile(path, g.Encode(), 0o600) != nil {
		return 97
	}
	return 0
}
