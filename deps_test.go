package weir_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// A policy is deps.txt: layers of packages, and doors for outside things.
type policy struct {
	module string
	layers []*layer
	doors  []*door
}

// A layer is a set of packages that may import the same.
type layer struct {
	name         string
	line         int
	packages     []string // patterns, in the order of the file
	imports      []string // layers, patterns, "earlier" or "anything"
	also, never  []extra
	why, instead string
}

// An extra is one "also" or "never" line. From is empty for "never".
type extra struct {
	line int
	from string
	to   []string
	text string
}

// A door names outside things and the packages that may use them.
type door struct {
	line         int
	things       []string // import patterns, or functions as "os.Open"
	only         []string // patterns, layers, "tests" or "none"
	why, instead string
}

// matches reports whether pattern, a path or a path and "/...", holds path.
func matches(pattern, path string) bool {
	base, tree := strings.CutSuffix(pattern, "/...")
	return path == base || tree && strings.HasPrefix(path, base+"/")
}

// layerOf finds the layer whose longest pattern holds the package, and the
// pattern's place in that layer.
func (p *policy) layerOf(pkg string) (found *layer, place int) {
	longest := -1
	for _, l := range p.layers {
		for i, pattern := range l.packages {
			if n := 2 * len(strings.TrimSuffix(pattern, "/...")); matches(pattern, pkg) {
				if !strings.HasSuffix(pattern, "/...") {
					n++ // the exact name wins over the tree of the same name
				}
				if n > longest {
					found, place, longest = l, i, n
				}
			}
		}
	}
	return found, place
}

// holds reports whether word, a layer's name or a pattern, holds the package.
func (p *policy) holds(word, pkg string) bool {
	if p.layer(word) != nil {
		l, _ := p.layerOf(pkg)
		return l != nil && l.name == word
	}
	return matches(word, pkg)
}

func (p *policy) layer(name string) *layer {
	i := slices.IndexFunc(p.layers, func(l *layer) bool { return l.name == name })
	if i < 0 {
		return nil
	}
	return p.layers[i]
}

// checkImport says what is wrong with from importing to, both paths below the
// module, or returns "".
func (p *policy) checkImport(from, to string, test bool) string {
	own, place := p.layerOf(from)
	target, targetPlace := p.layerOf(to)
	switch {
	case own == nil:
		return fmt.Sprintf("%s is in no layer of deps.txt\n\tinstead: add it to the layer whose height it has, or to a new one, with the reason", from)
	case target == nil:
		return fmt.Sprintf("%s imports %s, which is in no layer of deps.txt\n\tinstead: add it to the layer whose height it has", from, to)
	case from == to, test && p.openToTests(target):
		return ""
	}
	refuse := func(line int, rule, why string) string {
		return fmt.Sprintf("%s (%s) imports %s (%s)\n\trule:    %s (deps.txt:%d)\n\treason:  %s", from, own.name, to, target.name, rule, line, why)
	}
	for _, e := range own.never {
		if slices.ContainsFunc(e.to, func(w string) bool { return p.holds(w, to) }) {
			return refuse(e.line, own.name+" never imports "+strings.Join(e.to, " "), e.text)
		}
	}
	for _, word := range own.imports {
		if word == "anything" || word == "earlier" && target == own && targetPlace < place || p.holds(word, to) {
			return ""
		}
	}
	for _, e := range own.also {
		if matches(e.from, from) && slices.ContainsFunc(e.to, func(w string) bool { return p.holds(w, to) }) {
			return ""
		}
	}
	return refuse(own.line, own.name+" imports only: "+strings.Join(own.imports, " "), own.why+"\n\tinstead: "+own.instead)
}

// openToTests reports whether any test file may import the layer. Edges and
// what lies above them would make a unit test start a whole system.
func (p *policy) openToTests(target *layer) bool {
	return !slices.Contains([]string{"edges", "outside", "examples", "root"}, target.name)
}

// checkDoor says what is wrong with the package using an outside thing, an
// import path or "path.Func", or returns "". Known is whether it has a door.
func (p *policy) checkDoor(from, thing string, test bool) (complaint string, known bool) {
	for _, d := range p.doors {
		if !slices.ContainsFunc(d.things, func(pattern string) bool { return matches(pattern, thing) }) {
			continue
		}
		known = true
		for _, word := range d.only {
			if word == "tests" && test || p.holds(word, from) {
				return "", true
			}
		}
		complaint = fmt.Sprintf("%s uses %s\n\trule:    only %s (deps.txt:%d)\n\treason:  %s\n\tinstead: %s",
			from, thing, strings.Join(d.only, " "), d.line, d.why, d.instead)
	}
	return complaint, known
}

// standard reports whether an import path belongs to the standard library.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// checkFile lists what is wrong with the imports of one file.
func (p *policy) checkFile(f *source) []finding {
	var all []finding
	add := func(at ast.Node, complaint string) {
		if complaint != "" {
			all = append(all, finding{f.at(at), complaint})
		}
	}
	for _, spec := range f.tree.Imports {
		path := importPath(spec)
		if to, inside := strings.CutPrefix(path, p.module+"/"); inside {
			add(spec, p.checkImport(f.pkg, to, f.test))
			continue
		}
		if path == p.module {
			add(spec, p.checkImport(f.pkg, ".", f.test))
			continue
		}
		complaint, known := p.checkDoor(f.pkg, path, f.test)
		add(spec, complaint)
		if !known && !standard(path) {
			add(spec, fmt.Sprintf("%s imports %s, which has no door in deps.txt\n\treason:  an outside module is a promise to follow it for years\n\tinstead: use the standard library, or add a door and say why it is worth it", f.pkg, path))
		}
	}
	for call, name := range f.uses() {
		complaint, _ := p.checkDoor(f.pkg, name, f.test)
		add(call, complaint)
	}
	return all
}

// TestDeps keeps deps.txt: every package is in a layer, every import goes the
// allowed way, and every outside thing comes in through its door.
func TestDeps(t *testing.T) {
	p := readPolicy(t)
	seen := map[string]bool{}
	for _, f := range loadModule(t).files {
		if l, _ := p.layerOf(f.pkg); l == nil && !seen[f.pkg] {
			t.Errorf("%s is in no layer of deps.txt\n\treason:  a package without a place will be imported from everywhere\n\tinstead: add it to the layer whose height it has, or to a new one, with the reason", f.pkg)
		}
		if seen[f.pkg] = true; f.generated {
			continue
		}
		for _, found := range p.checkFile(f) {
			if !seen[found.text] { // one complaint for a package and a thing
				report(t, []finding{found})
			}
			seen[found.text] = true
		}
	}
}

func readPolicy(t *testing.T) *policy {
	t.Helper()
	text, err := os.ReadFile("deps.txt")
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePolicy(string(text))
	if err != nil {
		t.Fatal(err)
	}
	p.module = modulePath
	return p
}

// parsePolicy reads the notation that the head of deps.txt describes.
func parsePolicy(text string) (*policy, error) {
	p := &policy{}
	var set func(line int, key, value string) error
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, " \t\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] != '\t' {
			kind, rest, _ := strings.Cut(line, " ")
			switch words := strings.Fields(rest); {
			case kind == "layer" && len(words) == 1:
				l := &layer{name: words[0], line: number}
				p.layers, set = append(p.layers, l), l.set
			case kind == "door" && len(words) > 0:
				d := &door{things: words, line: number}
				p.doors, set = append(p.doors, d), d.set
			default:
				return nil, fmt.Errorf("deps.txt:%d: %q: want \"layer NAME\" or \"door THING …\"", number, line)
			}
			continue
		}
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || set == nil {
			return nil, fmt.Errorf("deps.txt:%d: %q: want \"key: value\" below a layer or a door", number, line)
		}
		if err := set(number, key, strings.TrimSpace(value)); err != nil {
			return nil, fmt.Errorf("deps.txt:%d: %w", number, err)
		}
	}
	return p, p.validate()
}

func (l *layer) set(line int, key, value string) error {
	switch key {
	case "packages":
		l.packages = append(l.packages, strings.Fields(value)...)
	case "imports":
		l.imports = append(l.imports, strings.Fields(value)...)
	case "why":
		l.why = value
	case "instead":
		l.instead = value
	case "also", "never":
		words, text, ok := strings.Cut(value, ": ")
		if !ok {
			return fmt.Errorf("%s without a reason", key)
		}
		if key == "never" {
			l.never = append(l.never, extra{line, "", strings.Fields(words), text})
			return nil
		}
		from, to, ok := strings.Cut(words, " -> ")
		if !ok {
			return fmt.Errorf("also: want \"A -> B …: reason\"")
		}
		l.also = append(l.also, extra{line, from, strings.Fields(to), text})
	default:
		return fmt.Errorf("a layer has no %q", key)
	}
	return nil
}

func (d *door) set(_ int, key, value string) error {
	switch key {
	case "only":
		d.only = append(d.only, strings.Fields(value)...)
	case "why":
		d.why = value
	case "instead":
		d.instead = value
	default:
		return fmt.Errorf("a door has no %q", key)
	}
	return nil
}

// validate refuses a rule without a reason, and a word that names nothing.
func (p *policy) validate() error {
	known := func(line int, words []string) error {
		for _, w := range words {
			special := slices.Contains([]string{"earlier", "anything", "tests", "none"}, w)
			if l, _ := p.layerOf(strings.TrimSuffix(w, "/...")); !special && l == nil && p.layer(w) == nil {
				return fmt.Errorf("deps.txt:%d: %q is neither a layer nor in one", line, w)
			}
		}
		return nil
	}
	for _, l := range p.layers {
		if len(l.packages) == 0 || l.why == "" || l.instead == "" {
			return fmt.Errorf("deps.txt:%d: layer %s needs packages, why and instead", l.line, l.name)
		}
		if err := known(l.line, l.imports); err != nil {
			return err
		}
		for _, e := range slices.Concat(l.also, l.never) {
			if err := known(e.line, e.to); err != nil {
				return err
			}
			if base, _ := strings.CutSuffix(e.from, "/..."); base != "" && !p.holds(l.name, base) && !p.holds(l.name, base+"/x") {
				return fmt.Errorf("deps.txt:%d: %q is not in layer %s", e.line, e.from, l.name)
			}
		}
	}
	for _, d := range p.doors {
		if len(d.only) == 0 || d.why == "" || d.instead == "" {
			return fmt.Errorf("deps.txt:%d: door %s needs only, why and instead", d.line, d.things)
		}
		if err := known(d.line, d.only); err != nil {
			return err
		}
	}
	return nil
}

// TestPolicyFires shows each kind of rule on a file that breaks it.
func TestPolicyFires(t *testing.T) {
	p, err := parsePolicy(`
layer low
	packages: a b/... b/core
	imports:  earlier
	why:      low things are low
	instead:  lift it
	also:     a -> b/core: a is special
layer edges
	packages: e
	imports:  anything
	why:      it is the top
	instead:  nothing
layer mid
	packages: c
	imports:  low
	why:      the middle
	instead:  lift it
	never:    b: b is for others; use a
door example.org/x/...
	only:     a tests
	why:      one door
	instead:  ask a
door os.Open os/exec
	only:     c
	why:      files are c's
	instead:  ask c
`)
	if err != nil {
		t.Fatal(err)
	}
	p.module = "m"
	for _, test := range []struct{ file, code, want string }{
		{"a/a.go", `import "m/b/core"`, ""},
		{"a/a.go", `import "m/b"`, "a (low) imports b (low)\n\trule:    low imports only: earlier (deps.txt:2)\n\treason:  low things are low\n\tinstead: lift it"},
		{"b/b.go", `import "m/a"`, ""},
		{"a/a.go", `import "m/c"`, "a (low) imports c (mid)"},
		{"a/a_test.go", `import "m/c"`, ""},
		{"a/a_test.go", `import "m/e"`, "a (low) imports e (edges)"},
		{"c/c.go", `import "m/b"`, "mid never imports b (deps.txt:18)\n\treason:  b is for others; use a"},
		{"c/c.go", `import "m/b/core"`, ""},
		{"e/e.go", `import "m/c"`, ""},
		{"e/e.go", `import "m/new"`, "new, which is in no layer"},
		{"new/n.go", `import "m/c"`, "new is in no layer"},
		{"a/a.go", `import "example.org/x/y"`, ""},
		{"b/b.go", `import "example.org/x/y"`, "b uses example.org/x/y\n\trule:    only a tests (deps.txt:19)\n\treason:  one door\n\tinstead: ask a"},
		{"b/b_test.go", `import "example.org/x/y"`, ""},
		{"b/b.go", `import "example.org/z"`, "has no door"},
		{"b/b.go", `import "os"; var _ = os.Args`, ""},
		{"b/b.go", `import "os"; var _, _ = os.Open("x")`, "b uses os.Open"},
		{"b/b.go", `import system "os"; var _, _ = system.Open("x")`, "b uses os.Open"},
		{"c/c.go", `import "os"; var _, _ = os.Open("x")`, ""},
		{"b/b.go", `import "os/exec"`, "b uses os/exec"},
	} {
		fires(t, p.checkFile(parseSource(t, test.file, "package p\n"+test.code)), test.file+": "+test.code, test.want)
	}
}

// TestPolicyRefused shows that a careless deps.txt is an error.
func TestPolicyRefused(t *testing.T) {
	for text, want := range map[string]string{
		"\tpackages: a": "below a layer",
		"room x":        "want \"layer NAME\"",
		"layer x\n\tpackages: a\n\timports: \n\twhy: y":                      "needs packages, why and instead",
		"layer x\n\tcolour: red":                                             `a layer has no "colour"`,
		"layer x\n\talso: a -> b":                                            "also without a reason",
		"layer x\n\tpackages: a\n\timports: nowhere\n\twhy: y\n\tinstead: z": `"nowhere" is neither`,
		"door x\n\tonly: none":                                               "needs only, why and instead",
	} {
		if _, err := parsePolicy(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", text, err, want)
		}
	}
}

// FuzzPolicy checks that no text makes the parser of deps.txt panic.
func FuzzPolicy(f *testing.F) {
	f.Add("layer x\n\tpackages: a b/...\n\timports: earlier\n\twhy: y\n\tinstead: z\n\talso: a -> b: r\n")
	f.Add("door x os.Open\n\tonly: none\n\twhy: y\n\tinstead: z\n")
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := parsePolicy(text); err == nil {
			p.checkImport("a", "b", false)
			p.checkDoor("a", "os.Open", true)
		}
	})
}

// parseSource makes a source of a snippet, as if it stood in the named file.
func parseSource(t *testing.T, name, code string) *source {
	t.Helper()
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, code, parser.ParseComments)
	if err != nil {
		t.Fatalf("snippet %q: %v", code, err)
	}
	return newSource(fset, name, []byte(code), tree)
}

// fires checks that the findings are the one that is wanted, or none for "".
func fires(t *testing.T, got []finding, what, want string) {
	t.Helper()
	switch {
	case want == "" && len(got) > 0:
		t.Errorf("%s: want no finding, got %v", what, got)
	case want != "" && len(got) != 1:
		t.Errorf("%s: want one finding with %q, got %v", what, want, got)
	case want != "" && !strings.Contains(got[0].text, want):
		t.Errorf("%s: want a finding with %q, got %q", what, want, got[0].text)
	}
}
