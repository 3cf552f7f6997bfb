package main

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// self is this command's package, which is built again for each defect.
const self = "./internal/testkit/sim/mutants"

// changed gives the content of the defect's file with the defect in it, and the
// line of the file at which it differs.
func (m *mutant) changed(root string) (content []byte, line int, err error) {
	source, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, 0, err
	}
	if n := bytes.Count(source, []byte(m.old)); n != 1 {
		return nil, 0, fmt.Errorf("%s: the text %q stands %d times in %s, want once", m.name, m.old, n, m.file)
	}
	content = bytes.Replace(source, []byte(m.old), []byte(m.new), 1)
	same := 0
	for same < min(len(source), len(content)) && source[same] == content[same] {
		same++
	}
	return content, 1 + bytes.Count(source[:same], []byte("\n")), nil
}

// build makes the command with the defect in it, in the directory dir, of the
// changed source.
func (m *mutant) build(ctx context.Context, root, dir string, source []byte) (binary string, err error) {
	replacement := filepath.Join(dir, "changed.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, m.file): replacement}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	for name, content := range map[string][]byte{replacement: source, list: overlay} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			return "", err
		}
	}
	binary = filepath.Join(dir, "world")
	c := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-overlay", list, "-o", binary, self)
	c.Dir = root
	if said, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", m.name, err, said)
	}
	return binary, nil
}

// moduleRoot is the directory of the module that the command is run in.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	path := strings.TrimSpace(string(out))
	if filepath.Base(path) != "go.mod" {
		return "", fmt.Errorf("find the module: run this inside the source tree")
	}
	return filepath.Dir(path), nil
}
