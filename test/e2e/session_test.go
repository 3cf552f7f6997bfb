package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// countWords is the independent count: no Weir in it.
func countWords(root string) (map[string]int, error) {
	counts := map[string]int{}
	return counts, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, word := range strings.FieldsFunc(string(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			counts[strings.ToLower(word)]++
		}
		return err
	})
}

var goSource = sync.OnceValues(func() (string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	return filepath.Join(strings.TrimSpace(string(root)), "src"), err
})

var expected = sync.OnceValues(func() (map[string]int, error) {
	root, err := goSource()
	if err != nil {
		return nil, err
	}
	return countWords(root)
})

// compare checks the part files below dir against the independent count.
func compare(dir string) error {
	want, err := expected()
	if err != nil {
		return err
	}
	parts, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	got := map[string]int{}
	for _, part := range parts {
		text, err := os.ReadFile(part)
		if err != nil {
			return err
		}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			word, count, ok := strings.Cut(lines.Text(), "\t")
			n, err := strconv.Atoi(count)
			if _, twice := got[word]; !ok || err != nil || twice {
				return fmt.Errorf("%s: bad line, or a word that came before: %q", part, lines.Text())
			}
			got[word] = n
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d distinct words in %d parts, want %d", len(got), len(parts), len(want))
	}
	for word, n := range want {
		if got[word] != n {
			return fmt.Errorf("%q: counted %d times, want %d", word, got[word], n)
		}
	}
	return nil
}

// TestSession is the session of the README.
func TestSession(t *testing.T) {
	root, err := goSource()
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, 2)
	for _, p := range []int{1, 2, 4, 7} {
		output := filepath.Join(t.TempDir(), "counts")
		out, errOut, code := c.run([]string{"-p", strconv.Itoa(p)}, "wordcount", "--", "--input", root+"/**/*.go", "--output", output)
		if code != 0 || !strings.Contains(out, "Program execution finished\nJob with JobID ") || !strings.Contains(out, "Job Runtime: ") {
			t.Fatalf("parallelism %d: code %d\n%s%s", p, code, out, errOut)
		}
		if err := compare(output); err != nil {
			t.Errorf("parallelism %d: %v", p, err)
		}
	}
	endless := c.detached("misbehave", "slow")
	c.running(endless)
	if out, errOut, code := c.weir("list", "-a", "-m", c.rest); code != 0 ||
		!strings.Contains(out, endless+" : misbehave slow (RUNNING)") || strings.Count(out, "word count (FINISHED)") != 4 {
		t.Errorf("list -a: code %d\n%s%s", code, out, errOut)
	}
	if out, errOut, code := c.weir("info", filepath.Join(bin, "wordcount"), "--input", "x"); code != 0 || !strings.Contains(out, `"pact": "Data Source"`) {
		t.Errorf("info: code %d\n%s%s", code, out, errOut)
	}
	var overview struct {
		Running  int `json:"jobs-running"`
		Finished int `json:"jobs-finished"`
		Managers int `json:"taskmanagers"`
	}
	c.get("/overview", &overview)
	if overview.Running != 1 || overview.Finished != 4 || overview.Managers != 2 {
		t.Errorf("/overview: %+v", overview)
	}
	for range 2 { // the second time the job is canceled already
		if out, errOut, code := c.weir("cancel", "-m", c.rest, endless); code != 0 || !strings.Contains(out, "Cancelled job "+endless+".") {
			t.Errorf("cancel: code %d\n%s%s", code, out, errOut)
		}
		c.until("canceled", func() bool { return c.state(endless) == "CANCELED" })
	}
	c.until("workers gone", func() bool { return len(c.workers()) == 0 })
}

// TestEmbedded runs the same program by itself.
func TestEmbedded(t *testing.T) {
	root, err := goSource()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []int{1, 2, 4, 7} {
		output := filepath.Join(t.TempDir(), "counts")
		cmd := exec.Command(filepath.Join(bin, "wordcount"), "--input", root+"/**/*.go", "--output", output)
		cmd.Env = append(os.Environ(), fmt.Sprintf(`WEIR_SETTINGS={"parallelism.default":"%d"}`, p))
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("parallelism %d: %v\n%s", p, err, text)
		}
		if err := compare(output); err != nil {
			t.Errorf("parallelism %d: %v", p, err)
		}
	}
}
