package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/client"
)

func TestFlinkArguments(t *testing.T) {
	for _, c := range [][2]string{
		{"run -sae prog -sae", "run --shutdownOnAttachedExit prog -sae"},
		{"run -cm claim prog", "run --claimMode claim prog"},
		{"run -m localhost:1 -sae prog -sae", "run -m localhost:1 --shutdownOnAttachedExit prog -sae"},
		{"-m localhost:1 run -p 2 -cm claim -sae prog", "-m localhost:1 run -p 2 --claimMode claim --shutdownOnAttachedExit prog"},
		{"run -m", "run -m"},
		{"list -a", "list -a"},
		{"-D a=b list -r", "-D a=b list -r"},
		{"run -- prog -sae", "run -- prog -sae"},
	} {
		got := flinkArguments(strings.Fields(c[0]))
		if !slices.Equal(got, strings.Fields(c[1])) {
			t.Errorf("%s: got %q", c[0], got)
		}
	}
}

// TestUsage checks what is said, and which code given, for a command line that is
// wrong by itself.
func TestUsage(t *testing.T) {
	t.Setenv("WEIR_HOME", t.TempDir())
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"frobnicate", `"frobnicate" is not a valid action.`, 2},
		{"list --frob", "unknown flag: --frob", 2},
		{"cancel", "Missing JobID. Specify a JobID to cancel a job.", 2},
		{"cancel xyz", `Cannot parse JobID from "xyz". The expected format is [0-9a-fA-F]{32}`, 2},
		{"run", "run: no program given", 2},
		{"run nope", "file does not exist: nope", 2},
		{"run -p x /bin/true", "The parallelism must be a positive number: x", 2},
		{"run -s /sp -cm legacy /bin/true", `claim mode "legacy": allowed are no_claim`, 2},
		{"savepoint", "Missing JobID. Specify a Job ID to trigger a savepoint.", 2},
		{"savepoint -type foo xyz", `Could not parse the savepoint format "foo". Expected one of: [[CANONICAL, NATIVE]]`, 2},
		{"savepoint show", "want the path of one savepoint, got 0", 2},
		{"savepoint show /no/such/savepoint", "Cannot find checkpoint or savepoint file/directory 'file:/no/such/savepoint' on file system 'file'.", 1},
		{"stop", "Missing JobId", 2},
		{"stop xyz", `Cannot parse JobID from "xyz". The expected format is [0-9a-fA-F]{32}`, 2},
		{"checkpoint xyz", `Cannot parse JobID from "xyz". The expected format is [0-9a-fA-F]{32}`, 2},
		{"upgrade /bin/true", "upgrade: only --dry-run is possible", 2},
		{"upgrade --dry-run /bin/true", "upgrade: no savepoint given", 2},
		{"list -t yarn-session", `deployment target "yarn-session"`, 2},
		{"list -D no.such.key=1", "no.such.key", 78},
		{"list -m localhost", "-m localhost: want HOST:PORT", 2},
		{"list -m localhost:http", "want HOST:PORT", 2},
		{"list -m :8081", "want HOST:PORT", 2},
		{"list -m localhost:99999", "want HOST:PORT", 2},
		{"list -m localhost:1", "Is the cluster running?", 1},
		{"cluster start --taskmanagers -1", "--taskmanagers: got -1", 2},
		{"cluster start --taskmanagers two", `invalid argument "two" for "--taskmanagers" flag: want a whole number`, 2},
		{"cluster frob", `cluster: "frob" is none of start, status, stop`, 2},
		{"cluster stop now", `cluster stop: got the argument "now", want none`, 2},
		{"config frob", `config: "frob" is none of check, explain`, 2},
	} {
		var out, err bytes.Buffer
		code := Main(strings.Fields(c.args), &out, &err)
		if code != c.code || !strings.Contains(err.String(), c.want) {
			t.Errorf("weir %s: code %d, want %d; standard error %q, want %q", c.args, code, c.code, err.String(), c.want)
		}
	}
}

// A job has one line of a list, also that of a query which is written in several.
func TestNamesOfQueriesInLists(t *testing.T) {
	var out bytes.Buffer
	printGroup(&out, []client.Job{{ID: "1", Name: "SELECT 1\nFROM `t`", State: "RUNNING"}}, "Jobs", "None")
	if got := out.String(); !strings.Contains(got, " : 1 : SELECT 1 FROM `t` (RUNNING)\n") {
		t.Error(got)
	}
}

// Texts of the REST API are for clients of Flink's; a person reads them without
// the names of Java classes, and with the program's own name.
func TestErrorsForPeople(t *testing.T) {
	err := renamed(action("Could not run count.", &client.Error{Status: 400, Errors: []string{
		"org.apache.flink.runtime.rest.handler.RestHandlerException: Could not execute application.\n" +
			"Caused by: java.lang.IllegalArgumentException: count-12ab: see a.b.C: no",
	}}), "count-12ab", "count")
	want := "Could not run count.\nCould not execute application.\nCaused by: count: see a.b.C: no"
	if err.Error() != want || !client.IsStatus(err, 400) {
		t.Errorf("got %q", err)
	}
}

func TestVersion(t *testing.T) {
	var out, err bytes.Buffer
	if code := Main([]string{"version"}, &out, &err); code != 0 || !strings.HasPrefix(out.String(), "Version: "+Version+", Commit ID: ") {
		t.Errorf("code %d, output %q, errors %q", code, out.String(), err.String())
	}
}
