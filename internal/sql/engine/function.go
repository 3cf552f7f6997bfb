package engine

import (
	"fmt"
	"strings"

	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/bind"
	"github.com/weirstream/weir/internal/sql/catalog"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/types"
)

// functionPath is the whole path of a function, whose own name has no case.
func (st *statement) functionPath(name *ast.ObjectName) (catalog.Path, error) {
	path, err := st.qualify(name)
	path.Object = strings.ToLower(path.Object)
	return path, err
}

// createFunction makes a function, or with ALTER replaces one.
func (st *statement) createFunction(c *ast.CreateFunction) (*session.Result, error) {
	path, err := st.functionPath(&c.Name)
	if err != nil {
		return nil, err
	}
	f := &catalog.Function{Class: c.Class.Value, Language: c.Language, Temporary: c.Temporary, System: c.System}
	if f.Language == "" {
		f.Language = "JAVA"
	}
	if f.Language == "SQL" {
		return nil, expr.Refuse(c.Span, "Unrecognized function language string SQL")
	}
	for _, u := range c.Using {
		f.Using = append(f.Using, catalog.Resource{Kind: u.Kind, Path: u.Path.Value})
	}
	switch {
	case c.Alter && c.System:
		err = expr.Refuse(c.Span, "Alter temporary system function is not supported")
	case c.Alter && c.Temporary:
		err = expr.Refuse(c.Span, "Alter temporary catalog function is not supported")
	case c.Alter:
		err = st.names.AlterFunction(path, f, c.IfExists)
	default:
		if c.Temporary || c.System {
			if _, known := st.class(f.Class); !known {
				return nil, expr.Refuse(c.Class.Span, "Could not register temporary catalog function '%s' due to implementation errors: %s", path, noClass(f.Class))
			}
		}
		err = st.names.CreateFunction(path, f, c.IfNotExists)
	}
	if err != nil {
		return nil, err
	}
	return done(), nil
}

// class finds what a user has registered.
func (st *statement) class(name string) (*expr.Function, bool) {
	if st.o.Functions == nil {
		return nil, false
	}
	return st.o.Functions(name)
}

func noClass(name string) string {
	return fmt.Sprintf("no function is registered as '%s'; functions are written in Go and registered with the program", name)
}

// named finds the function that a name in a query stands for, with its path.
func (st *statement) named(name []string) (*expr.Function, []string, error) {
	f, path, err := st.kept(name)
	if f == nil || err != nil {
		return nil, nil, err
	}
	fn, known := st.class(f.Class)
	if !known {
		return nil, nil, fmt.Errorf("Cannot instantiate user-defined function '%s': %s", path, noClass(f.Class)) //lint:ignore ST1005 Flink's words
	}
	if f.System {
		return fn, []string{path.Object}, nil
	}
	return fn, []string{path.Catalog, path.Database, path.Object}, nil
}

// functionNames are those that a query may call without a path.
func (st *statement) functionNames() []string {
	names, err := st.names.Functions(st.names.Current())
	if err != nil {
		return nil
	}
	return names
}

// kept finds the function of a name.
func (st *statement) kept(name []string) (*catalog.Function, catalog.Path, error) {
	path, err := st.names.Qualify(name)
	if err != nil {
		return nil, path, err
	}
	path.Object = strings.ToLower(path.Object)
	if len(name) == 1 {
		if f := st.names.SystemFunction(path.Object); f != nil {
			return f, path, nil
		}
	}
	f, err := st.names.Function(path)
	return f, path, err
}

// describeFunction tells of a function.
func (st *statement) describeFunction(d *ast.Describe) (*session.Result, error) {
	f, path, err := st.kept(d.Name.Strings())
	if err != nil {
		return nil, expr.Refuse(d.Name.Span, "%v", err)
	}
	fn, known := st.o.Registry.Lookup(d.Name.Last())
	builtin := f == nil && known && len(d.Name.Parts) == 1
	if f == nil && !builtin {
		return nil, refused(session.ClassValidation, "Function %s doesn't exist.", d.Name.Last())
	}
	rows := [][]any{{"is system function", truth(builtin || f.System)}, {"is temporary", truth(!builtin && (f.Temporary || f.System))}}
	if !builtin {
		var uris []string
		for _, u := range f.Using {
			uris = append(uris, fmt.Sprintf("ResourceUri{resourceType=%s, uri='%s'}", u.Kind, u.Path))
		}
		rows = append(rows, []any{"class name", f.Class}, []any{"function language", f.Language}, []any{"resource uris", "[" + strings.Join(uris, ", ") + "]"})
		if fn, known = st.class(f.Class); !known && d.Extended {
			return nil, refused(session.ClassValidation, "Cannot instantiate user-defined function '%s': %s", path, noClass(f.Class))
		}
	}
	if d.Extended {
		rows = append(rows, extended(fn, path, builtin)...)
	}
	return told([]types.Field{column("info name", types.String()), column("info value", types.String())}, rows...), nil
}

// extended tells what the registry knows of a function.
func extended(fn *expr.Function, path catalog.Path, builtin bool) [][]any {
	kind, signature := "SCALAR", fn.Usage
	if fn.Kernel == nil && fn.Lazy == nil {
		kind = "AGGREGATE"
	}
	if fn.Category == bind.TableFunction {
		kind = "TABLE"
	}
	if !builtin {
		_, args, _ := strings.Cut(fn.Usage, "(")
		signature = path.String() + "(" + args
	}
	return [][]any{{"kind", kind}, {"requirements", "[]"}, {"is deterministic", truth(fn.Volatility != expr.PerRow)},
		{"supports constant folding", truth(fn.Volatility == expr.Stable)}, {"signature", signature}}
}

func truth(is bool) string {
	if is {
		return "true"
	}
	return "false"
}
