package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
)

// Version is the release; the build may set it.
var Version = "0.1.0"

// revision is the commit the binary was built from, if the build recorded it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(7, len(s.Value))]
		}
	}
	return "unknown"
}

func versionLine() string { return fmt.Sprintf("Version: %s, Commit ID: %s", Version, revision()) }

func (p *invocation) version() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return p.json(map[string]string{"version": Version, "commit": revision(), "go": runtime.Version()})
			}
			fmt.Fprintln(p.out, versionLine())
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

// built is when the commit that the binary was built from was made; zero if the
// build did not record it.
func built() time.Time {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" {
				if at, err := time.Parse(time.RFC3339, s.Value); err == nil {
					return at
				}
			}
		}
	}
	return time.Time{}
}
