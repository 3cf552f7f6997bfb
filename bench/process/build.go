package process

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build builds the programs that are measured into dir, as make build does:
// stripped. It is called in the root of the module.
func Build(ctx context.Context, dir string) (Programs, error) {
	p := Programs{Weir: filepath.Join(dir, "weir"), WordCount: filepath.Join(dir, "wordcount"), Job: filepath.Join(dir, "job")}
	for _, one := range [][2]string{{p.Weir, "./cmd/weir"}, {p.WordCount, "./examples/wordcount"}, {p.Job, "./bench/job"}} {
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags=grpcnotrace,pebblegozstd", "-ldflags=-s -w", "-o", one[0], one[1])
		if out, err := cmd.CombinedOutput(); err != nil {
			return Programs{}, fmt.Errorf("build %s: %w: %s", one[1], err, out)
		}
	}
	return p, nil
}
