package weir_test

import (
	"go/ast"
	"go/token"
	"iter"
	"path"
	"slices"
	"strings"
)

// calledBeside are packages of these layers whose functions work outside, and are
// called in a loop's Go only.
var calledBeside = []string{"internal/coordinator/files/glob", "internal/snapshot/storage"}

// waits finds what may wait for another goroutine.
func waits(f *source) iter.Seq2[ast.Node, string] {
	return nodes(f, func(n ast.Node) string {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				return "receive from a channel"
			}
		case *ast.SendStmt:
			return "send to a channel"
		}
		return ""
	})
}

// outsideWork finds uses of the packages for files, sockets and processes, but
// not of their errors and of what only looks at text.
func outsideWork(f *source) iter.Seq2[ast.Node, string] {
	return func(yield func(ast.Node, string) bool) {
		for n, name := range f.uses() {
			pkg, what, _ := strings.Cut(path.Base(name), ".")
			dir := path.Join(path.Dir(name), pkg)
			outside := slices.Contains([]string{"os", "os/exec", "net", "net/http", "syscall", "internal/fs"}, strings.TrimPrefix(dir, modulePath+"/")) ||
				strings.HasPrefix(dir, "golang.org/x/sys/")
			pure := strings.HasPrefix(what, "Err") || slices.Contains([]string{"SplitHostPort", "JoinHostPort"}, what) ||
				strings.HasSuffix(dir, "internal/fs") && slices.Contains([]string{"Location", "Parse"}, what)
			if outside && !pure && !yield(n, name) {
				return
			}
		}
	}
}
