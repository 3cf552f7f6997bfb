// Weir is the one binary: a cluster's processes and the command line.
package main

import (
	"os"

	"github.com/weirstream/weir/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
