package cli

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var rewrite = flag.Bool("rewrite", false, "write what the commands print into the scripts")

// TestMain makes the test binary also the command that the scripts run.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"weir": func() { os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the stories of the command line that need no cluster.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		UpdateScripts:       *rewrite,
		Setup: func(env *testscript.Env) error {
			env.Setenv("WEIR_HOME", env.WorkDir+"/home")
			env.Setenv("WEIR_PROPERTIES", "")
			return nil
		},
	})
}
