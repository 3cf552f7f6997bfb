package e2e

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/testkit/processes"
)

// TestOperatingGuide runs the sessions of docs/guide/operating.md, in order, on a
// cluster of its own, and compares what is printed with what is written there.
func TestOperatingGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	g := newGuide(t)
	n := 0
	for _, block := range strings.Split(string(text), "```console\n")[1:] {
		session, _, _ := strings.Cut(block, "```")
		for _, step := range strings.Split("\n"+session, "\n$ ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			g.step(command, strings.Split(strings.TrimSuffix(want, "\n"), "\n"))
			n++
		}
	}
	if n < 15 {
		t.Errorf("the guide has only %d commands", n)
	}
}

// guide is a shell in which the guide's sessions run.
type guide struct {
	t    *testing.T
	home string
	port string
	ids  map[string]string // what is written in the guide, and what it is here
}

// newGuide makes a home directory, in which nothing else is.
func newGuide(t *testing.T) *guide {
	t.Helper()
	home, err := os.MkdirTemp("", "weir") // paths of unix sockets are short
	if err != nil {
		t.Fatal(err)
	}
	ports, err := processes.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	g := &guide{t: t, home: home, port: ports[0], ids: map[string]string{}}
	program, err := os.ReadFile(filepath.Join(bin, "orders"))
	if err == nil {
		err = os.Mkdir(filepath.Join(home, "shop"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "shop", "orders"), program, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if out := g.run("weir cluster stop"); t.Failed() {
			t.Logf("cluster stop: %s", out)
		}
		os.RemoveAll(home)
	})
	return g
}

// step runs a command until it prints what is wanted: the effect of a signal, or
// the slots of a job that has just ended, take a moment. Commands that change
// something are run once.
func (g *guide) step(command string, want []string) {
	g.t.Helper()
	looks := strings.HasPrefix(command, "curl ") || strings.HasPrefix(command, "grep ") || command == "weir cluster status"
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for limit := time.Now().Add(patience / 4); ; <-poll.C {
		out := g.run(g.here(command))
		got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if g.match(want, got) {
			return
		}
		if !looks || time.Now().After(limit) {
			g.t.Fatalf("$ %s\n%s\nthe guide says:\n%s", command, out, strings.Join(want, "\n"))
		}
	}
}

// here replaces what is the guide's by what it is in this run.
func (g *guide) here(text string) string {
	for written, actual := range g.ids { // order: they do not overlap
		text = strings.ReplaceAll(text, written, actual)
	}
	return strings.ReplaceAll(text, "localhost:8081", "localhost:"+g.port)
}

// run runs one command in the shop's directory and gives all that it prints.
func (g *guide) run(command string) string {
	if address, ok := strings.CutPrefix(command, "curl -s "); ok {
		return g.curl(address)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir = filepath.Join(g.home, "shop")
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "WEIR_") && !strings.HasPrefix(v, "PATH=") && !strings.HasPrefix(v, "HOME=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+g.home, "PWD="+cmd.Dir, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "LC_ALL=C",
		"WEIR_PROPERTIES=rest.port: "+g.port+"\njobmanager.rpc.port: 0")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // what is printed tells
	return out.String()
}

// curl is not on every machine.
func (g *guide) curl(address string) string {
	response, err := http.Get("http://" + address)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// match compares lines. A line … stands for any number of lines.
func (g *guide) match(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if want[0] == "…" {
		for i := range len(got) + 1 {
			if g.match(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && g.matchLine(want[0], got[0]) && g.match(want[1:], got[1:])
}

// varying are the parts of a line that differ from run to run, and what they look
// like: identifiers, which are remembered, and numbers.
var varying = regexp.MustCompile(`[0-9a-f]{32}|localhost:8081|\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d|\b4242\b|\b4250\b|\d+ ms|…`)

var spaces = regexp.MustCompile(` +`)

// matchLine compares one line, and remembers which identifier stands for which.
func (g *guide) matchLine(want, got string) bool {
	// The width of a column may be that of an identifier.
	want, got = spaces.ReplaceAllString(want, " "), spaces.ReplaceAllString(got, " ")
	var pattern strings.Builder
	var written []string
	last := 0
	for _, at := range varying.FindAllStringIndex(want, -1) {
		pattern.WriteString(regexp.QuoteMeta(want[last:at[0]]))
		last = at[1]
		switch part := want[at[0]:at[1]]; {
		case len(part) == 32:
			written = append(written, part)
			pattern.WriteString(`([0-9a-f]{32})`)
		case part == "localhost:8081":
			pattern.WriteString("localhost:" + g.port)
		case strings.HasSuffix(part, " ms"):
			pattern.WriteString(`\d+ ms`)
		case part == "…":
			pattern.WriteString(".*")
		case part == "4242", part == "4250":
			pattern.WriteString(`\d+`)
		default:
			pattern.WriteString(`\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d`)
		}
	}
	pattern.WriteString(regexp.QuoteMeta(want[last:]))
	found := regexp.MustCompile("^" + pattern.String() + "$").FindStringSubmatch(got)
	if found == nil {
		return false
	}
	for i, id := range written {
		if known, ok := g.ids[id]; ok && known != found[i+1] {
			return false
		}
		g.ids[id] = found[i+1]
	}
	return true
}
