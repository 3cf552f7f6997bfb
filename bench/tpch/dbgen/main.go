// Command dbgen writes the tables of TPC-H as CSV files, a directory for each
// table, with the generator of go-tpc. It is a module of its own, so that
// Weir's module does not need go-tpc.
//
// A scale factor of 1 or more is whole and gives what TPC-H defines. A smaller
// one keeps the first rows of each table of scale factor 1 and brings keys
// into the range that is left, so that all keys that refer to rows still do.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/pingcap/go-tpc/tpch/dbgen"
)

func main() {
	scale := flag.Float64("sf", 1, "scale factor: a whole number, or a fraction from 0.001")
	dir := flag.String("dir", "", "directory in which a directory for each table is made")
	flag.Parse()
	if *dir == "" || *scale < 0.001 || *scale > 1 && *scale != math.Trunc(*scale) {
		fmt.Fprintln(os.Stderr, "usage: dbgen -dir DIR [-sf N], where N is a whole number or a fraction from 0.001 to 1")
		os.Exit(2)
	}
	if err := generate(*dir, *scale); err != nil {
		fmt.Fprintln(os.Stderr, "dbgen:", err)
		os.Exit(1)
	}
}

// generate writes all tables. The last thing it writes is the file `complete`,
// whose absence says that the others are not.
func generate(dir string, scale float64) error {
	dbgen.InitDbGen(int64(max(scale, 1)))
	k := keysOf(scale)
	groups := []struct {
		table  dbgen.Table
		tables map[dbgen.Table]string
		rows   int64
	}{
		{dbgen.TRegion, map[dbgen.Table]string{dbgen.TRegion: "region"}, 5},
		{dbgen.TNation, map[dbgen.Table]string{dbgen.TNation: "nation"}, 25},
		{dbgen.TSupp, map[dbgen.Table]string{dbgen.TSupp: "supplier"}, k.suppliers},
		{dbgen.TCust, map[dbgen.Table]string{dbgen.TCust: "customer"}, k.customers},
		{dbgen.TPartPsupp, map[dbgen.Table]string{dbgen.TPart: "part", dbgen.TPsupp: "partsupp"}, k.parts},
		{dbgen.TOrderLine, map[dbgen.Table]string{dbgen.TOrder: "orders", dbgen.TLine: "lineitem"}, k.orders},
	}
	for _, g := range groups {
		loaders := map[dbgen.Table]dbgen.Loader{}
		var files []*table
		for t, name := range g.tables {
			f, err := create(filepath.Join(dir, name), writers[t], k, g.rows)
			if err != nil {
				return err
			}
			loaders[t], files = f, append(files, f)
		}
		err := dbgen.DbGen(loaders, []dbgen.Table{g.table})
		for _, f := range files {
			// The generator cannot be told to stop, other than by an error.
			if f.full {
				err = nil
			}
		}
		for _, f := range files {
			err = errors.Join(err, f.close())
		}
		if err != nil {
			return fmt.Errorf("generating %v: %w", g.tables, err)
		}
	}
	return os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644)
}
