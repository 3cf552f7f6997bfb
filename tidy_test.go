package weir_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

const (
	modulePath       = "github.com/weirstream/weir"
	maxFileLines     = 800
	maxFunctionLines = 80
	maxTestLines     = 120 // a test function, which is often one table
)

// drift names the files and functions that are over the limit, with their size
// in lines. An entry may shrink and must then be lowered here; none is added
// to make a build pass, only with a reviewer's word that it is one noun.
var drift = map[string]int{}

// replayed are the layers whose code runs again from a seed: whatever they
// decide may depend on their arguments and their loop, and on nothing else.
var replayed = []string{"vocabulary", "job", "cores", "control"}

// ordered are the layers in which a loop over a map must say that its order
// cannot be seen: the replayed ones, where equal inputs must give equal effects.
var ordered = []string{"job", "cores", "control"}

// A rule looks at one file and says where it is broken.
type rule struct {
	name    string
	reason  string
	instead string
	in      func(p *policy, f *source) bool
	find    func(f *source) iter.Seq2[ast.Node, string]
}

var rules = []rule{{
	name:    "no clock",
	reason:  "a decision that reads the clock cannot be replayed from a seed",
	instead: "take now as an argument, or use the loop: Now and After; a deadline is an event",
	in:      inLayers(replayed...),
	find: using("time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick",
		"time.NewTimer", "time.NewTicker", "context.WithTimeout", "context.WithTimeoutCause", "context.WithDeadline", "context.WithDeadlineCause"),
}, {
	name:    "no goroutine",
	reason:  "state has one owner, and what runs beside it cannot be replayed from a seed",
	instead: "use the loop: Go(work, then) runs work elsewhere and brings the result back",
	in:      inLayers(replayed...),
	find:    goroutines,
}, {
	name:    "no waiting",
	reason:  "an endpoint that waits answers no heartbeat, and counts as dead",
	instead: "use the loop: Go(work, then) waits elsewhere, After wakes later, and a letter comes when something has happened",
	in:      inLayers("job", "cores", "control"),
	find:    waits,
}, {
	name:    "no outside work",
	reason:  "files, sockets and processes take as long as they like, and the loop that waits for them answers no heartbeat",
	instead: "use the loop: Go(work, then); work itself belongs into a package that is only called there, or into an agent",
	in: func(p *policy, f *source) bool {
		return inLayers("job", "cores", "control")(p, f) && !slices.Contains(calledBeside, f.pkg)
	},
	find: outsideWork,
}, {
	name:    "no lock",
	reason:  "state has one owner; a lock says that two share it",
	instead: "post a letter to the owner's loop",
	in:      inLayers("job", "cores", "control"),
	find:    using("sync.Mutex", "sync.RWMutex", "sync.Cond", "sync.NewCond", "sync.WaitGroup", "sync.Map"),
}, {
	name:    "no randomness of its own",
	reason:  "a decision that draws from a global generator cannot be replayed from a seed",
	instead: "take a *rand.Rand, as the loop's Rand gives it",
	in:      inLayers(replayed...),
	find:    globalRandom,
}, {
	name:    "no printing",
	reason:  "standard output belongs to the program that links the package",
	instead: "hand a *slog.Logger or an io.Writer down",
	in:      library,
	find: either(using("fmt.Print", "fmt.Printf", "fmt.Println", "log.Print", "log.Printf", "log.Println",
		"log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln"), calling("print", "println")),
}, {
	name:    "no exit",
	reason:  "a library that ends the process takes the other jobs and all deferred work with it",
	instead: "return an error; cmd, internal/cli and internal/worker turn it into an exit code",
	in: func(p *policy, f *source) bool {
		return !f.test && !f.program() && !p.holds("internal/cli/...", f.pkg) && !p.holds("internal/worker/...", f.pkg)
	},
	find: using("os.Exit", "syscall.Exit", "runtime.Goexit"),
}, {
	name:    "no bare panic",
	reason:  "a panic here ends the master of every job; it must be a broken invariant and say which",
	instead: "call package internal/invariant, or return an error",
	in: func(p *policy, f *source) bool {
		return !f.test && f.pkg != "internal/invariant" && inLayers(replayed...)(p, f)
	},
	find: calling("panic"),
}, {
	name:    "no sleep in tests",
	reason:  "a test that waits for time is slow when it passes and wrong when the machine is busy",
	instead: "wait for the event itself, or run the test in synctest.Test, where time is virtual",
	in:      func(_ *policy, f *source) bool { return f.test },
	find:    sleeps,
}, {
	name:    "no promise in a comment",
	reason:  "what is not done is refused with an error or listed in docs/gaps.md, where users see it",
	instead: "do it, or write the gap down",
	in:      func(*policy, *source) bool { return true },
	find:    promises,
}}

// TestTidy holds every Go file of the module to the rules above.
func TestTidy(t *testing.T) {
	p, m := readPolicy(t), loadModule(t)
	for _, err := range m.errors {
		t.Error(err)
	}
	for _, f := range m.files {
		if f.generated {
			continue
		}
		for _, r := range rules {
			report(t, r.check(p, f))
		}
	}
}

func (r *rule) check(p *policy, f *source) []finding {
	var all []finding
	if r.in(p, f) {
		for at, what := range r.find(f) {
			all = append(all, finding{f.at(at), fmt.Sprintf("%s\n\trule:    %s\n\treason:  %s\n\tinstead: %s", what, r.name, r.reason, r.instead)})
		}
	}
	return all
}

func inLayers(names ...string) func(*policy, *source) bool {
	return func(p *policy, f *source) bool {
		l, _ := p.layerOf(f.pkg)
		return !f.test && l != nil && slices.Contains(names, l.name)
	}
}

// library reports whether other programs link the file.
func library(p *policy, f *source) bool {
	l, _ := p.layerOf(f.pkg)
	return !f.test && !f.program() && (l == nil || l.name != "outside" && l.name != "examples")
}

// using finds uses of the named functions and types of other packages.
func using(names ...string) func(*source) iter.Seq2[ast.Node, string] {
	return func(f *source) iter.Seq2[ast.Node, string] {
		return func(yield func(ast.Node, string) bool) {
			for n, name := range f.uses() {
				if slices.Contains(names, name) && !yield(n, name) {
					return
				}
			}
		}
	}
}

// calling finds calls of the named predeclared functions.
func calling(names ...string) func(*source) iter.Seq2[ast.Node, string] {
	return func(f *source) iter.Seq2[ast.Node, string] {
		return nodes(f, func(n ast.Node) string {
			if call, ok := n.(*ast.CallExpr); ok {
				if id, ok := call.Fun.(*ast.Ident); ok && id.Obj == nil && slices.Contains(names, id.Name) {
					return "call of " + id.Name
				}
			}
			return ""
		})
	}
}

func either(finders ...func(*source) iter.Seq2[ast.Node, string]) func(*source) iter.Seq2[ast.Node, string] {
	return func(f *source) iter.Seq2[ast.Node, string] {
		return func(yield func(ast.Node, string) bool) {
			for _, find := range finders {
				for n, what := range find(f) {
					if !yield(n, what) {
						return
					}
				}
			}
		}
	}
}

func goroutines(f *source) iter.Seq2[ast.Node, string] {
	return nodes(f, func(n ast.Node) string {
		if _, ok := n.(*ast.GoStmt); ok {
			return "go statement"
		}
		return ""
	})
}

// globalRandom finds functions of the random packages, but not the types and
// constructors of a generator that somebody seeds.
func globalRandom(f *source) iter.Seq2[ast.Node, string] {
	return func(yield func(ast.Node, string) bool) {
		for n, name := range f.uses() {
			pkg, what, _ := strings.Cut(path.Base(name), ".")
			dir := path.Join(path.Dir(name), pkg)
			seeded := strings.HasPrefix(what, "New") || slices.Contains([]string{"Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf"}, what)
			random := (dir == "math/rand" || dir == "math/rand/v2") && !seeded || dir == "crypto/rand" || dir == "uuid" && strings.HasPrefix(what, "New")
			if random && !yield(n, name) {
				return
			}
		}
	}
}

// sleeps finds time.Sleep in files that make no synctest bubble. In a bubble
// sleeping is how virtual time moves, also in the helpers called from it.
func sleeps(f *source) iter.Seq2[ast.Node, string] {
	if f.imports["synctest"] == "testing/synctest" {
		return func(func(ast.Node, string) bool) {}
	}
	return using("time.Sleep")(f)
}

var promise = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)

func promises(f *source) iter.Seq2[ast.Node, string] {
	return func(yield func(ast.Node, string) bool) {
		for _, group := range f.tree.Comments {
			for _, c := range group.List {
				if promise.MatchString(c.Text) && !yield(c, promise.FindString(c.Text)) {
					return
				}
			}
		}
	}
}

// TestPackageDocs wants every package to say what it is for.
func TestPackageDocs(t *testing.T) {
	byPackage := map[string][]*source{}
	for _, f := range loadModule(t).files {
		byPackage[f.pkg] = append(byPackage[f.pkg], f)
	}
	for _, pkg := range slices.Sorted(maps.Keys(byPackage)) {
		report(t, packageDoc(byPackage[pkg]))
	}
}

var sentence = regexp.MustCompile(`^\S+( \S+){4,}[.:]`)

// packageDoc complains unless one of a package's files opens with a comment
// that holds a sentence. A package of tests only may say it in a test file, a
// generated one says it in the file it is generated from.
func packageDoc(files []*source) []finding {
	if !slices.ContainsFunc(files, func(f *source) bool { return !f.generated }) {
		return nil
	}
	testsOnly := !slices.ContainsFunc(files, func(f *source) bool { return !f.test })
	for _, f := range files {
		if f.test && !testsOnly || f.tree.Doc == nil {
			continue
		}
		text := strings.Join(strings.Fields(f.tree.Doc.Text()), " ")
		if named := strings.HasPrefix(text, "Package "); sentence.MatchString(text) && (named || testsOnly || f.program()) {
			return nil
		}
	}
	return []finding{{files[0].pkg, "package without a package comment\n\treason:  a reader meets the package before its code" +
		"\n\tinstead: write \"// Package NAME …\" in whole sentences: what it is for, what it promises, what it never does"}}
}

// TestSizes keeps files and functions at the size of one thought.
func TestSizes(t *testing.T) {
	over := map[string]int{}
	for _, f := range loadModule(t).files {
		if !f.generated {
			maps.Copy(over, sizes(f))
		}
	}
	report(t, compareDrift(over, drift))
}

// sizes gives what is over the limit in a file, in lines.
func sizes(f *source) map[string]int {
	over := map[string]int{}
	if n := f.lines(f.tree.FileStart, f.tree.FileEnd); n > maxFileLines {
		over[f.name] = n
	}
	limit := maxFunctionLines
	if f.test {
		limit = maxTestLines
	}
	for _, d := range f.tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if n := f.lines(fn.Pos(), fn.End()); n > limit {
				over[f.name+" "+functionName(fn)] = n
			}
		}
	}
	return over
}

// functionName is the name of a function, after the type it is a method of.
func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	receiver := fn.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return r.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

// compareDrift complains about everything over the limit that is not accepted,
// has grown, or has shrunk without its entry.
func compareDrift(over, accepted map[string]int) []finding {
	var all []finding
	for _, what := range slices.Sorted(maps.Keys(over)) {
		limit, ok := accepted[what]
		switch n := over[what]; {
		case !ok:
			all = append(all, finding{what, fmt.Sprintf("%d lines, over the limit (file %d, function %d, test function %d)\n\treason:  near the limit there is usually a second noun inside\n\tinstead: move that noun into a file or function of its own", n, maxFileLines, maxFunctionLines, maxTestLines)})
		case n > limit:
			all = append(all, finding{what, fmt.Sprintf("grew from %d to %d lines\n\treason:  what is over the limit may only shrink\n\tinstead: put the addition elsewhere", limit, n)})
		case n < limit:
			all = append(all, finding{what, fmt.Sprintf("shrank from %d to %d lines: set its entry in drift to %d", limit, n, n)})
		}
	}
	for _, what := range slices.Sorted(maps.Keys(accepted)) {
		if _, ok := over[what]; !ok {
			all = append(all, finding{what, "is no longer over the limit: remove its entry from drift"})
		}
	}
	return all
}

// TestMapOrder looks for loops over maps where equal inputs must give equal
// effects. It needs types, so it compiles the packages of these layers.
func TestMapOrder(t *testing.T) {
	p, dirs := readPolicy(t), map[string]bool{}
	for _, f := range loadModule(t).files {
		if l, _ := p.layerOf(f.pkg); !f.test && l != nil && slices.Contains(ordered, l.name) {
			dirs["./"+f.pkg] = true
		}
	}
	if len(dirs) == 0 {
		return
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, slices.Sorted(maps.Keys(dirs))...)
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range loaded {
		for _, err := range pkg.Errors {
			t.Errorf("%s does not compile, so its loops cannot be checked: %v", pkg.PkgPath, err)
		}
		for _, tree := range pkg.Syntax {
			name := pkg.Fset.Position(tree.FileStart).Filename
			code, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			report(t, mapOrder(newSource(pkg.Fset, relative(t, name), code, tree), pkg.TypesInfo))
		}
	}
}

// mapOrder finds loops over a map, or over an iterator that package maps made
// of one, without a comment "// order: …" on their line or the line above.
func mapOrder(f *source, info *types.Info) []finding {
	excused := map[int]bool{}
	for _, group := range f.tree.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "// order: ") {
				line := f.fset.Position(c.Pos()).Line
				excused[line], excused[line+1] = true, true
			}
		}
	}
	iterators := map[ast.Node]bool{}
	for n, name := range f.uses() {
		if name == "maps.All" || name == "maps.Keys" || name == "maps.Values" {
			iterators[f.callOf(n)] = true
		}
	}
	var all []finding
	for n := range nodes(f, func(n ast.Node) string {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || excused[f.fset.Position(n.Pos()).Line] {
			return ""
		}
		typ := info.TypeOf(loop.X)
		if typ == nil {
			return ""
		}
		if _, isMap := typ.Underlying().(*types.Map); isMap || iterators[loop.X] {
			return "loop over a map"
		}
		return ""
	}) {
		all = append(all, finding{f.at(n), "loop over a map in code that is replayed\n\treason:  a map has another order each time, and equal inputs must give equal effects" +
			"\n\tinstead: range slices.Sorted(maps.Keys(m)), or say on the line why no order can be seen: // order: …"})
	}
	return all
}

// TestTexts looks through every text file, whatever its language.
func TestTexts(t *testing.T) {
	for _, f := range loadModule(t).texts {
		report(t, texts(f.name, f.code))
	}
}

// The words are put together here, so that this file does not hold them.
var (
	machinePath = regexp.MustCompile("(^|[^\\w./~$}-])/(" + strings.Join([]string{"work", "root", "Users", "home"}, "|") + ")/[a-z]")
	registries  = regexp.MustCompile(`\b(` + strings.Join([]string{
		`proxy\.golang`, `sum\.golang`, `goproxy\.(io|cn)`, `registry\.npmjs`, `registry\.yarnpkg`,
		`pypi\.org`, `files\.pythonhosted`, `repo1?\.maven`, `deb\.debian`, `index\.crates`,
	}, "|") + `)\b`)
	unkept = regexp.MustCompile(`(#|//|--|<!--).*\b(` + "TO" + "DO|FIX" + `ME)\b`)
)

// texts finds what must not stand in any file of the repository.
func texts(name string, code []byte) []finding {
	var all []finding
	number := 0
	for line := range bytes.Lines(code) {
		number++
		at := fmt.Sprintf("%s:%d", name, number)
		if m := machinePath.Find(line); m != nil {
			all = append(all, finding{at, fmt.Sprintf("path of one machine, %q\n\treason:  it exists nowhere else\n\tinstead: use a path relative to the repository, an environment variable or t.TempDir()", m)})
		}
		if m := registries.Find(line); m != nil {
			all = append(all, finding{at, fmt.Sprintf("package registry, %q\n\treason:  where packages come from is each machine's own setting\n\tinstead: name the package and use its ordinary client", m)})
		}
		if m := unkept.Find(line); m != nil && !strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, ".md") {
			all = append(all, finding{at, fmt.Sprintf("promise in a comment, %q\n\treason:  nobody reads it there\n\tinstead: do it, or list it in docs/gaps.md", m)})
		}
	}
	return all
}

// A source is one Go file.
type source struct {
	name      string // path below the module
	pkg       string // its directory below the module, "." for the root
	test      bool
	generated bool
	code      []byte
	fset      *token.FileSet
	tree      *ast.File
	imports   map[string]string // local name → import path
}

func newSource(fset *token.FileSet, name string, code []byte, tree *ast.File) *source {
	f := &source{name: name, pkg: path.Dir(name), code: code, fset: fset, tree: tree, imports: map[string]string{},
		test: strings.HasSuffix(name, "_test.go"), generated: ast.IsGenerated(tree)}
	for _, spec := range tree.Imports {
		p := importPath(spec)
		local := path.Base(p)
		if strings.HasPrefix(local, "v") && strings.Trim(local[1:], "0123456789") == "" {
			local = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			local = spec.Name.Name
		}
		f.imports[local] = p
	}
	return f
}

func importPath(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
	return p
}

// program reports whether the file belongs to a package main.
func (f *source) program() bool { return f.tree.Name.Name == "main" }

func (f *source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.name, f.fset.Position(n.Pos()).Line)
}

func (f *source) lines(from, to token.Pos) int {
	return f.fset.Position(to).Line - f.fset.Position(from).Line + 1
}

// uses gives every mention of another package's name, as "time.Now" or
// "math/rand/v2.IntN", in the order of the file.
func (f *source) uses() iter.Seq2[ast.Node, string] {
	return nodes(f, func(n ast.Node) string {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && id.Obj == nil && f.imports[id.Name] != "" {
				return f.imports[id.Name] + "." + sel.Sel.Name
			}
		}
		return ""
	})
}

// callOf is the call whose function the node is, or the node itself.
func (f *source) callOf(fun ast.Node) ast.Node {
	found := fun
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && call.Fun == fun {
			found = call
		}
		return n != nil && n.Pos() <= fun.Pos() && fun.End() <= n.End()
	})
	return found
}

// nodes gives the nodes for which say has something to say.
func nodes(f *source, say func(ast.Node) string) iter.Seq2[ast.Node, string] {
	return func(yield func(ast.Node, string) bool) {
		stopped := false
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if n == nil || stopped {
				return false
			}
			if what := say(n); what != "" && !yield(n, what) {
				stopped = true
			}
			return !stopped
		})
	}
}

// A finding is one place that breaks a rule; its text names rule, reason and
// replacement.
type finding struct{ at, text string }

func report(t *testing.T, all []finding) {
	t.Helper()
	for _, f := range all {
		t.Errorf("%s: %s", f.at, f.text)
	}
}

// A module is what the repository's directory holds.
type module struct {
	files  []*source
	texts  []*source // all files that are text; only name and code are set
	errors []error   // Go files that do not parse
}

var loadOnce = sync.OnceValues(walkModule)

func loadModule(t *testing.T) *module {
	t.Helper()
	m, err := loadOnce()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func walkModule() (*module, error) {
	m, fset := &module{}, token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			return enter(name)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		code, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(code[:min(len(code), 8000)], 0) < 0 {
			m.texts = append(m.texts, &source{name: name, code: code})
		}
		if !strings.HasSuffix(name, ".go") || strings.Contains("/"+name, "/testdata/") {
			return nil
		}
		tree, err := parser.ParseFile(fset, name, code, parser.ParseComments)
		if err != nil {
			m.errors = append(m.errors, err)
			return nil
		}
		m.files = append(m.files, newSource(fset, name, code, tree))
		return nil
	})
	slices.SortFunc(m.files, func(a, b *source) int { return cmp.Compare(a.name, b.name) })
	return m, err
}

// enter refuses directories that are no part of the module's source.
func enter(dir string) error {
	base := path.Base(dir)
	hidden := strings.HasPrefix(base, ".") && base != "." && base != ".ci"
	if hidden || base == "node_modules" || dir == "bin" || dir == "coverage" {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && dir != "." {
		return fs.SkipDir // a module of its own, with its own policy
	}
	return nil
}

func relative(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

// TestRulesFire shows each rule on a file that breaks it, and on one that
// comes close and does not.
func TestRulesFire(t *testing.T) {
	const core, control, lib = "internal/jobmaster/schedule/x.go", "internal/jobmaster/x.go", "internal/task/x.go"
	for _, test := range []struct{ file, code, want string }{
		{core, `import "time"; var x = time.Now()`, "time.Now\n\trule:    no clock"},
		{control, `import "context"; var x = context.WithTimeout`, "context.WithTimeout\n\trule:    no clock"},
		{control, `import "time"; const x = time.Second`, ""},
		{lib, `import "time"; var x = time.Now()`, ""},
		{control, `func f() { go f() }`, "go statement\n\trule:    no goroutine"},
		{lib, `func f() { go f() }`, ""},
		{control, `func f(c chan int) { <-c }`, "receive from a channel\n\trule:    no waiting"},
		{control, `func f(c chan int) { select { case c <- 1: } }`, "send to a channel\n\trule:    no waiting"},
		{lib, `func f(c chan int) { <-c }`, ""},
		{"internal/taskexecutor/x.go", `import "os"; var x = os.Remove`, "os.Remove\n\trule:    no outside work"},
		{"internal/taskexecutor/x.go", `import "os"; var x = os.ErrNotExist`, ""},
		{"internal/taskexecutor/process/x.go", `import "os"; var x = os.Remove`, ""},
		{"internal/coordinator/files/glob/x.go", `import "os"; var x = os.Stat`, ""},
		{"internal/resourcemanager/x.go", `import "net"; var x, y, z = net.SplitHostPort("")`, ""},
		{control, `import "github.com/weirstream/weir/internal/fs"; var x fs.Location`, ""},
		{control, `import "github.com/weirstream/weir/internal/fs"; var x = fs.ReadFile`, "internal/fs.ReadFile\n\trule:    no outside work"},
		{control, `import "sync"; var x sync.Mutex`, "sync.Mutex\n\trule:    no lock"},
		{lib, `import "sync"; var x sync.Mutex`, ""},
		{core, `import "math/rand/v2"; var x = rand.IntN(3)`, "math/rand/v2.IntN\n\trule:    no randomness"},
		{core, `import "math/rand/v2"; func f(r *rand.Rand) int { return r.IntN(3) }`, ""},
		{core, `import "crypto/rand"; var x = rand.Reader`, "crypto/rand.Reader\n\trule:    no randomness"},
		{lib, `import "fmt"; func f() { fmt.Println() }`, "fmt.Println\n\trule:    no printing"},
		{lib, `func f() { println() }`, "call of println\n\trule:    no printing"},
		{lib, `import "fmt"; import "io"; func f(w io.Writer) { fmt.Fprintln(w) }`, ""},
		{"internal/task/x_test.go", `import "fmt"; func Example() { fmt.Println() }`, ""},
		{"bench/x.go", `import "fmt"; func f() { fmt.Println() }`, ""},
		{lib, `import "os"; func f() { os.Exit(1) }`, "os.Exit\n\trule:    no exit"},
		{"internal/cli/x.go", `import "os"; func f() { os.Exit(1) }`, ""},
		{control, `func f() { panic("x") }`, "call of panic\n\trule:    no bare panic"},
		{"internal/invariant/x.go", `func f() { panic("x") }`, ""},
		{control, `func f(panic func()) { panic() }`, ""},
		{"internal/task/x_test.go", `import "time"; func f() { time.Sleep(1) }`, "time.Sleep\n\trule:    no sleep in tests"},
		{"internal/task/x_test.go", `import ("time"; "testing/synctest"); func f() { time.Sleep(1); synctest.Wait() }`, ""},
		{lib, "// TO" + "DO: later\nvar x int", "TO" + "DO\n\trule:    no promise"},
		{lib, "// nothing is left to do\nvar x int", ""},
	} {
		var all []finding
		for _, r := range rules {
			all = append(all, r.check(readPolicy(t), parseSource(t, test.file, "package p\n"+test.code))...)
		}
		fires(t, all, test.file+": "+test.code, test.want)
	}
}

func TestPackageDocFires(t *testing.T) {
	for code, want := range map[string]string{
		"package p":                      "without a package comment",
		"// Package p.\npackage p":       "without a package comment",
		"// p is for things.\npackage p": "without a package comment",
		"// Package p holds the things that\n// a task needs.\npackage p": "",
		"// Weir is the command that runs everything.\npackage main":      "",
	} {
		fires(t, packageDoc([]*source{parseSource(t, "p/p.go", code)}), code, want)
	}
	fires(t, packageDoc([]*source{parseSource(t, "p/p_test.go", "// Whole-system tests of one thing.\npackage p")}), "tests only", "")
}

func TestSizesFire(t *testing.T) {
	long := "package p\nfunc (s *S[T]) F() {\n" + strings.Repeat("\n", maxFunctionLines) + "}\ntype S[T any] struct{}\n"
	over := sizes(parseSource(t, "p/p.go", long))
	if want := (map[string]int{"p/p.go S.F": maxFunctionLines + 2}); !maps.Equal(over, want) {
		t.Errorf("got %v, want %v", over, want)
	}
	over = sizes(parseSource(t, "p/p.go", "package p\n"+strings.Repeat("\n", maxFileLines)))
	if _, ok := over["p/p.go"]; !ok {
		t.Errorf("a file of %d lines was accepted", maxFileLines+1)
	}
	size := func(n int) map[string]int { return map[string]int{"f": n} }
	fires(t, compareDrift(size(90), nil), "new", "over the limit")
	fires(t, compareDrift(size(90), size(89)), "grown", "grew from 89 to 90")
	fires(t, compareDrift(size(90), size(90)), "same", "")
	fires(t, compareDrift(size(90), size(91)), "shrunk", "set its entry in drift to 90")
	fires(t, compareDrift(nil, size(91)), "small", "remove its entry")
}

func TestMapOrderFires(t *testing.T) {
	for code, want := range map[string]string{
		`func f(m map[int]int) { for range m { } }`:                                                            "loop over a map",
		`type s map[int]int; func f(m s) { for k := range m { _ = k } }`:                                       "loop over a map",
		"func f(m map[int]int) (n int) {\nfor _, v := range m { // order: a sum has none\nn += v }; return }":  "",
		"func f(m map[int]int) (n int) {\n// order: a sum has none\nfor _, v := range m {\nn += v }; return }": "",
		`func f(m []int) { for range m { } }`:                                                                  "",
		`import "maps"; func f(m map[int]int) { for range maps.Keys(m) { } }`:                                  "loop over a map",
		`import ("maps"; "slices"); func f(m map[int]int) { for range slices.Sorted(maps.Keys(m)) { } }`:       "",
	} {
		f := parseSource(t, "p/p.go", "package p\n"+code)
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: importer.ForCompiler(f.fset, "source", nil)}
		if _, err := conf.Check("p", f.fset, []*ast.File{f.tree}, info); err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		fires(t, mapOrder(f, info), code, want)
	}
}

func TestTextsFire(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a.sh", "cd /wo" + "rk/main", "path of one machine"},
		{"a.md", "`/ro" + "ot/go`", "path of one machine"},
		{"a.md", "the framework/work/list, ~/root/x and ./home/x", ""},
		{"a.yaml", "url: https://pro" + "xy.golang.org", "package registry"},
		{"a.sh", "# TO" + "DO: later", "promise in a comment"},
		{"a.sh", "echo nothing to do # done", ""},
	} {
		fires(t, texts(test.name, []byte(test.text)), test.text, test.want)
	}
}
