package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// blocking runs the stages of a batch job one after the other.
var blocking = []string{"-D", "execution.batch-shuffle-mode=ALL_EXCHANGES_BLOCKING"}

// smallDisk gives a directory on a disk of its own.
func smallDisk(t *testing.T, megabytes int) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "weird")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	err = syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes))
	if errors.Is(err, syscall.EPERM) {
		t.Skip("a small disk cannot be mounted here: that needs rights")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left := filesBelow(t, dir); len(left) != 0 {
			t.Errorf("left on the disk: %q", left)
		}
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// filesBelow lists the files below a directory.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went while we looked
		}
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A disk that is full fails the job, which names the file and how much was to be
// written. Its space is given back, and the TaskManager goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 96) // of which the programs take some
	c := start(t, 1, "io.tmp.dirs="+disk)
	out, errOut, code := c.run(blocking, "misbehave", "spill")
	if code != 1 {
		t.Fatalf("code %d\n%s%s", code, out, errOut)
	}
	want := regexp.MustCompile(`write \d+ bytes to ` + disk + `/\S+ after \d+ bytes, \d+ of them were written: no space left on device`)
	if !want.MatchString(errOut) {
		t.Errorf("%s is not said in\n%s", want, errOut)
	}
	if cause := c.cause(submitted.FindStringSubmatch(out)[1]); !want.MatchString(cause) {
		t.Errorf("%s is not in the exceptions\n%s", want, cause)
	}
	c.untilSays(func() string {
		for _, path := range filesBelow(t, disk) {
			if strings.Contains(path, "weir-scratch-") {
				return "left on the disk: " + path
			}
		}
		return ""
	})
	if n := len(c.managers()); n != 1 {
		t.Errorf("%d TaskManagers, want the one", n)
	}
	c.works()
}

// damaged runs the program whose partition file is damaged once.
func (c *cluster) damaged(how, output string) (out, errOut string, code int) {
	trigger := filepath.Join(c.t.TempDir(), "trigger")
	writeFile(c.t, trigger, "")
	out, errOut, code = c.run(blocking, "misbehave", "damage", trigger, how, output)
	if _, err := os.Stat(trigger); err == nil {
		c.t.Error("nothing was damaged")
	}
	return out, errOut, code
}

var damages = []struct{ how, says string }{
	{"flip", `read /\S+/weir-scratch-\S+ at byte \d+: partition corrupt: .*checksum`},
	{"cut", `read /\S+/weir-scratch-\S+ at byte \d+: partition corrupt: the file ends after \d+ of \d+ bytes`},
}

// The producer of a damaged file runs again, and the result is right.
func TestDamagedPartitionIsProducedAgain(t *testing.T) {
	t.Parallel()
	c := start(t, 1, fixedDelay()...)
	var want []string
	for k := range 16 {
		want = append(want, fmt.Sprintf("%d\t62500", k))
	}
	slices.Sort(want)
	for _, d := range damages {
		output := filepath.Join(t.TempDir(), "counts")
		out, errOut, code := c.damaged(d.how, output)
		if code != 0 {
			t.Fatalf("%s: code %d\n%s%s", d.how, code, out, errOut)
		}
		if got := lines(t, output); !slices.Equal(got, want) {
			t.Errorf("%s: counted %q", d.how, got)
		}
		all := c.exceptions(submitted.FindStringSubmatch(out)[1])
		if len(all) != 1 || !regexp.MustCompile(d.says).MatchString(all[0].Cause) || !strings.HasPrefix(all[0].Decision, "restarted ") {
			t.Errorf("%s: the failures are %+v, want one with %s", d.how, all, d.says)
		}
	}
}

// Without restarts the job fails, and names the file and the place in it.
func TestDamagedPartitionFailsTheJob(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	for _, d := range damages {
		out, errOut, code := c.damaged(d.how, filepath.Join(t.TempDir(), "counts"))
		if code != 1 || !regexp.MustCompile(d.says).MatchString(errOut) {
			t.Errorf("%s: code %d, %s is not said in\n%s%s", d.how, code, d.says, out, errOut)
		}
	}
	c.works()
}
