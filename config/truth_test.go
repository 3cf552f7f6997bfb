package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/memory"
)

// readOtherwise are options that take effect though nobody names their variable.
var readOtherwise = map[string]string{
	"pipeline.global-job-parameters": "the REST API shows it as it was given",
	"pekko.ask.timeout":              "taskmanager.slot.timeout falls back on it",
}

// TestEveryOptionIsReadOrSaysWhyNot finds who reads each option. An option that
// nobody reads must say that it has no effect, and one that is read must not.
func TestEveryOptionIsReadOrSaysWhyNot(t *testing.T) {
	keys := declarations(t)
	if len(keys) != len(registry) {
		t.Fatalf("%d declarations found, %d options registered", len(keys), len(registry))
	}
	used := uses(t)
	for variable, key := range keys {
		info := registry[key].info()
		_, otherwise := readOtherwise[key]
		read := used[variable] || otherwise || decidesMemory(key)
		switch {
		case !read && reflect.ValueOf(registry[key]).FieldByName("inert").IsNil():
			t.Errorf("%s (%s) is read nowhere: read it, or give it a reason in inert", key, variable)
		case read && info.NoEffect != "":
			t.Errorf("%s (%s) is read, and still says that it has no effect: %q", key, variable, info.NoEffect)
		}
	}
}

// decidesMemory reports whether package memory reads the key, by its name.
func decidesMemory(key string) bool {
	asked := false
	source := sourceFunc(func(k string) (string, bool) {
		asked = asked || k == key
		switch k {
		case memory.TaskManagerTaskHeapSize, memory.TaskManagerManagedSize:
			return "100 mb", strings.HasSuffix(key, ".min") // the branch with fractions of what is given
		case memory.TaskManagerProcessSize, memory.JobManagerProcessSize:
			return "2 gb", true
		}
		return "", false
	})
	_, _ = memory.TaskManager(source)
	_, _ = memory.JobManager(source)
	return asked
}

type sourceFunc func(string) (string, bool)

func (f sourceFunc) Get(key string) (string, bool) { return f(key) }

// declarations gives the key of each option by the name of its variable.
func declarations(t *testing.T) map[string]string {
	byVariable := map[string]string{}
	eachFile(t, ".", func(f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
				return true
			}
			call, ok := spec.Values[0].(*ast.CallExpr)
			if name, isName := fun(call, ok); isName && name == "declare" {
				byVariable[spec.Names[0].Name] = keyOf(call.Args[1])
			}
			return true
		})
	})
	return byVariable
}

func fun(call *ast.CallExpr, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return "", false
	}
	return id.Name, true
}

// keyOf finds the key in the literal of an option: the registered option whose
// key the literal's first field is, as text or as a constant of package memory.
func keyOf(literal ast.Expr) string {
	composite, ok := literal.(*ast.CompositeLit)
	if !ok {
		return ""
	}
	for _, e := range composite.Elts {
		field, ok := e.(*ast.KeyValueExpr)
		if !ok || field.Key.(*ast.Ident).Name != "Key" {
			continue
		}
		switch v := field.Value.(type) {
		case *ast.BasicLit:
			return strings.Trim(v.Value, `"`)
		case *ast.SelectorExpr:
			return memoryKeys[v.Sel.Name]
		}
	}
	return ""
}

// memoryKeys are the keys that package memory names.
var memoryKeys = map[string]string{
	"TaskManagerProcessSize": memory.TaskManagerProcessSize, "TaskManagerFlinkSize": memory.TaskManagerFlinkSize,
	"TaskManagerFrameworkHeapSize": memory.TaskManagerFrameworkHeapSize, "TaskManagerFrameworkOffHeapSize": memory.TaskManagerFrameworkOffHeapSize,
	"TaskManagerTaskHeapSize": memory.TaskManagerTaskHeapSize, "TaskManagerTaskOffHeapSize": memory.TaskManagerTaskOffHeapSize,
	"TaskManagerManagedSize": memory.TaskManagerManagedSize, "TaskManagerManagedFraction": memory.TaskManagerManagedFraction,
	"TaskManagerNetworkFraction": memory.TaskManagerNetworkFraction, "TaskManagerNetworkMin": memory.TaskManagerNetworkMin,
	"TaskManagerNetworkMax": memory.TaskManagerNetworkMax, "TaskManagerMetaspaceSize": memory.TaskManagerMetaspaceSize,
	"TaskManagerOverheadFraction": memory.TaskManagerOverheadFraction, "TaskManagerOverheadMin": memory.TaskManagerOverheadMin,
	"TaskManagerOverheadMax": memory.TaskManagerOverheadMax, "JobManagerProcessSize": memory.JobManagerProcessSize,
	"JobManagerFlinkSize": memory.JobManagerFlinkSize, "JobManagerHeapSize": memory.JobManagerHeapSize,
	"JobManagerOffHeapSize": memory.JobManagerOffHeapSize, "JobManagerMetaspaceSize": memory.JobManagerMetaspaceSize,
	"JobManagerOverheadFraction": memory.JobManagerOverheadFraction, "JobManagerOverheadMin": memory.JobManagerOverheadMin,
	"JobManagerOverheadMax": memory.JobManagerOverheadMax,
}

// uses gives the variables of this package whose value somebody reads: others by
// config.NAME, this package by NAME.In or NAME.Lookup or as an argument.
func uses(t *testing.T) map[string]bool {
	used := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case strings.HasPrefix(d.Name(), ".") && path != "..", d.Name() == "testdata":
			return filepath.SkipDir
		}
		eachFile(t, path, func(f *ast.File) {
			own := f.Name.Name == "config"
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok {
						if x.Name == "config" && !own {
							used[n.Sel.Name] = true
						} else if own && (n.Sel.Name == "In" || n.Sel.Name == "Lookup") {
							used[x.Name] = true
						}
					}
				case *ast.CallExpr:
					for _, a := range n.Args {
						if x, ok := a.(*ast.Ident); ok && own {
							used[x.Name] = true
						}
					}
				}
				return true
			})
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return used
}

// eachFile parses the Go files of one directory that are no tests.
func eachFile(t *testing.T, dir string, look func(*ast.File)) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		look(f)
	}
}
