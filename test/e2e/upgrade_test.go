package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// written are the lines of all finished files below a directory, sorted.
func written(t *testing.T, dir string) (lines []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		text, err := os.ReadFile(path)
		lines = append(lines, strings.Fields(strings.ReplaceAll(string(text), " ", "_"))...)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

var pathOf = regexp.MustCompile(`Savepoint completed\. Path: (\S+)`)

// tells checks an answer of the command line.
func (c *cluster) tells(want string, code int, args ...string) string {
	c.t.Helper()
	out, errOut, got := c.weir(args...)
	if got != code || !strings.Contains(out+errOut, want) {
		c.t.Fatalf("weir %s: code %d, want %d and %q\n%s%s", strings.Join(args, " "), got, code, want, out, errOut)
	}
	c.t.Logf("$ weir %s\n%s%s", strings.Join(args, " "), out, errOut)
	return out
}

// TestUpgradeWalk is an operator's way through an upgrade: a job runs and is stopped
// by a savepoint; the new program is held against it; it goes on with it, at other
// parallelisms; and what comes out is what a job writes that nobody disturbs.
func TestUpgradeWalk(t *testing.T) {
	c := start(t, 1, "execution.checkpointing.interval=200 ms", "taskmanager.numberOfTaskSlots=6")
	work := t.TempDir()
	savepoints, out, hold := filepath.Join(work, "savepoints"), filepath.Join(work, "out"), filepath.Join(work, "hold")
	ledger := filepath.Join(bin, "ledger")
	arguments := func(version int, out string) []string {
		return []string{"-version", fmt.Sprint(version), "-last", "150000", "-out", out}
	}
	held := func(version int) []string { return append(arguments(version, out), "-hold", hold) }
	program := func(version int) []string { return append([]string{"--"}, held(version)...) }
	at := func(verb ...string) []string { return append(verb, "-m", c.rest) }

	// One job is left alone.
	undisturbed := c.wide(2, nil, "ledger", arguments(1, filepath.Join(work, "undisturbed"))...)

	// The other one writes, and is asked for a savepoint while it runs.
	writeFile(t, hold, "")
	job := c.wide(1, nil, "ledger", held(1)...)
	c.until("the first lines", func() bool { return len(written(t, out)) > 0 })
	looked := pathOf.FindStringSubmatch(c.tells("You can resume your program from this savepoint", 0, at("savepoint", job, savepoints)...))[1]
	c.tells("ledger", 0, "savepoint", "show", looked)
	c.tells("Savepoint '"+looked+"' disposed.", 0, at("savepoint", "-d", looked)...)
	c.tells("Cannot find checkpoint or savepoint file/directory", 1, at("savepoint", "-d", looked)...)
	c.tells("completed", 0, at("checkpoint", job)...)

	// It is stopped.
	first := pathOf.FindStringSubmatch(c.tells("Suspending job", 0, at("stop", "-p", savepoints, job)...))[1]
	c.reaches(job, "FINISHED")
	before := written(t, out)

	// What would the new programs keep? Version 3 has lost the operator's id, and
	// version 4 counts in a type that no number becomes.
	upgrade := func(version int) []string {
		return append([]string{"upgrade", "--dry-run", ledger, "-s", first, "-p", "3"}, program(version)...)
	}
	c.tells("kept", 0, upgrade(1)...)
	c.tells("migrated", 0, upgrade(2)...)
	c.tells("lost", 4, upgrade(3)...)
	c.tells("refused", 4, upgrade(4)...)

	// They are not let begin either, and neither is one with a path that is none, nor
	// with a savepoint that is damaged.
	begin := func(savepoint string, version int, flags ...string) []string {
		return append(append(append(at("run", "-d"), "-s", savepoint), flags...), append([]string{ledger}, held(version)...)...)
	}
	c.tells("--allowNonRestoredState", 1, begin(first, 3)...)
	c.tells("Cannot find checkpoint or savepoint file/directory", 1, begin(filepath.Join(work, "none"), 2)...)
	damaged := filepath.Join(work, "damaged")
	if err := os.CopyFS(damaged, os.DirFS(strings.TrimPrefix(first, "file:"))); err != nil {
		t.Fatal(err)
	}
	flip(t, filepath.Join(damaged, "_metadata"))
	c.tells("_metadata at byte", 1, begin(damaged, 2)...)
	changed := c.wide(1, []string{"-s", first}, "ledger", held(4)...)
	c.reaches(changed, "FAILED")
	if cause := c.cause(changed); !strings.Contains(cause, `state \"n\"`) {
		t.Errorf("the cause of the changed type is %s", cause)
	}
	if now := written(t, out); !slices.Equal(now, before) {
		t.Fatalf("programs that were refused wrote %d lines", len(now)-len(before))
	}

	// The new program goes on, with three subtasks and then with two. The second
	// savepoint has moved meanwhile, and the job it is given to deletes it in the end.
	job = c.wide(3, []string{"-s", first}, "ledger", held(2)...)
	c.until("more lines", func() bool { return len(written(t, out)) > len(before) })
	second := pathOf.FindStringSubmatch(c.tells("Suspending job", 0, at("stop", "-p", savepoints, job)...))[1]
	moved := filepath.Join(work, "moved")
	if err := os.Rename(strings.TrimPrefix(second, "file:"), moved); err != nil {
		t.Fatal(err)
	}
	job = c.wide(2, []string{"-s", moved, "-cm", "claim"}, "ledger", held(2)...)
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	c.reaches(job, "FINISHED")
	c.until("the savepoint that was given to the job is gone", func() bool {
		_, err := os.Stat(moved)
		return os.IsNotExist(err)
	})
	c.reaches(undisturbed, "FINISHED")
	got, want := written(t, out), written(t, filepath.Join(work, "undisturbed"))
	if !slices.Equal(got, want) {
		t.Errorf("the job that was upgraded wrote %d lines, the one that was left alone %d; the first one that differs: %s", len(got), len(want), differing(got, want))
	}
}

// flip changes a bit in the middle of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	writeFile(t, path, string(text))
}

func differing(got, want []string) string {
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return fmt.Sprintf("%q, want %q", got[min(i, len(got)-1)], want[i])
		}
	}
	return fmt.Sprintf("%q", got[len(want)])
}
