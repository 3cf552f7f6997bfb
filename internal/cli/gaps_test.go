package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestGaps passes while a verb or an option of Flink's, or of the command line's
// contract, is missing, and fails once it works: then it leaves this list and
// docs/gaps.md.
func TestGaps(t *testing.T) {
	t.Setenv("WEIR_HOME", t.TempDir())
	for _, verb := range []string{
		"logs", "top", "standalone-job", "nexmark",
	} {
		var out, err bytes.Buffer
		if code := Main([]string{verb}, &out, &err); code != exitUsage || !strings.Contains(err.String(), "is not a valid action") {
			t.Errorf("weir %s: code %d, %q", verb, code, err.String())
		}
	}
	for args, want := range map[string]string{
		"list -t yarn-session": "only remote, a running cluster, can be chosen",
	} {
		var out, err bytes.Buffer
		if code := Main(strings.Fields(args), &out, &err); code != exitUsage || !strings.Contains(err.String(), want) {
			t.Errorf("weir %s: code %d, %q", args, code, err.String())
		}
	}
}
