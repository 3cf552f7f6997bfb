package main

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pingcap/go-tpc/tpch/dbgen"
)

var errFull = errors.New("the table has all its rows")

// A table is a CSV file of one table, and what the generator hands rows to.
type table struct {
	write func(*row, keys, any)
	keys  keys
	left  int64 // items to come: parts with their suppliers, orders with their lines
	full  bool
	file  *os.File
	row   row
}

func create(dir string, write func(*row, keys, any), k keys, rows int64) (*table, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, filepath.Base(dir)+".csv"))
	if err != nil {
		return nil, err
	}
	return &table{write: write, keys: k, left: rows, file: f, row: row{out: bufio.NewWriterSize(f, 1<<20)}}, nil
}

// Load writes what belongs to one generated item.
func (t *table) Load(item interface{}) error {
	if t.left == 0 {
		t.full = true
		return errFull
	}
	t.left--
	t.write(&t.row, t.keys, item)
	return nil
}

// Flush is what the generator calls after the last item; close does it.
func (t *table) Flush() error { return nil }

func (t *table) close() error { return errors.Join(t.row.out.Flush(), t.file.Close()) }

// A row collects the fields of one line. A bufio.Writer keeps its first error,
// so that close reports it.
type row struct {
	out  *bufio.Writer
	some bool
}

func (r *row) next() {
	if r.some {
		r.out.WriteByte(',')
	}
	r.some = true
}

func (r *row) int(v int64) *row {
	r.next()
	r.out.Write(strconv.AppendInt(r.out.AvailableBuffer(), v, 10))
	return r
}

// cents writes an amount in hundredths as a decimal number.
func (r *row) cents(v int64) *row {
	r.next()
	if v < 0 {
		r.out.WriteByte('-')
		v = -v
	}
	b := strconv.AppendInt(r.out.AvailableBuffer(), v/100, 10)
	r.out.Write(append(b, '.', byte('0'+v/10%10), byte('0'+v%10)))
	return r
}

// text writes a string, quoted where a CSV reader would misread it.
func (r *row) text(s string) *row {
	r.next()
	if strings.ContainsAny(s, ",\"\n\r") {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	r.out.WriteString(s)
	return r
}

func (r *row) end() {
	r.out.WriteByte('\n')
	r.some = false
}

// writers writes the rows of each table, from the items of the generator.
var writers = map[dbgen.Table]func(*row, keys, any){
	dbgen.TRegion: func(r *row, _ keys, item any) {
		v := item.(*dbgen.Region)
		r.int(int64(v.Code)).text(v.Text).text(v.Comment).end()
	},
	dbgen.TNation: func(r *row, _ keys, item any) {
		v := item.(*dbgen.Nation)
		r.int(int64(v.Code)).text(v.Text).int(int64(v.Join)).text(v.Comment).end()
	},
	dbgen.TSupp: func(r *row, _ keys, item any) {
		v := item.(*dbgen.Supp)
		r.int(int64(v.SuppKey)).text(v.Name).text(v.Address).int(int64(v.NationCode)).text(v.Phone).
			cents(int64(v.Acctbal)).text(v.Comment).end()
	},
	dbgen.TCust: func(r *row, _ keys, item any) {
		v := item.(*dbgen.Cust)
		r.int(int64(v.CustKey)).text(v.Name).text(v.Address).int(int64(v.NationCode)).text(v.Phone).
			cents(int64(v.Acctbal)).text(v.MktSegment).text(v.Comment).end()
	},
	dbgen.TPart: func(r *row, _ keys, item any) {
		v := item.(*dbgen.Part)
		r.int(int64(v.PartKey)).text(v.Name).text(v.Mfgr).text(v.Brand).text(v.Type).int(int64(v.Size)).
			text(v.Container).cents(int64(v.RetailPrice)).text(v.Comment).end()
	},
	dbgen.TPsupp: writeSuppliersOfPart,
	dbgen.TOrder: writeOrder,
	dbgen.TLine:  writeLines,
}

func writeSuppliersOfPart(r *row, k keys, item any) {
	for i, v := range item.(*dbgen.Part).S {
		supplier := int64(v.SuppKey)
		if !k.whole {
			supplier = k.supplier(int64(v.PartKey), int64(i))
		}
		r.int(int64(v.PartKey)).int(supplier).int(int64(v.Qty)).cents(int64(v.SCost)).text(v.Comment).end()
	}
}

func writeOrder(r *row, k keys, item any) {
	v := item.(*dbgen.Order)
	customer, total := int64(v.CustKey), int64(v.TotalPrice)
	if !k.whole {
		customer, total = k.customer(customer), 0
		for _, l := range v.Lines {
			cost := price(k.part(int64(l.PartKey))) * int64(l.Quantity)
			total += cost * int64(100-l.Discount) / 100 * int64(100+l.Tax) / 100
		}
	}
	r.int(int64(v.OKey)).int(customer).text(string(v.Status)).cents(total).text(v.Date).text(v.OrderPriority).
		text(v.Clerk).int(v.ShipPriority).text(v.Comment).end()
}

func writeLines(r *row, k keys, item any) {
	for _, v := range item.(*dbgen.Order).Lines {
		part, supplier, cost := int64(v.PartKey), int64(v.SuppKey), int64(v.EPrice)
		if !k.whole {
			part = k.part(part)
			supplier = k.supplier(part, int64(v.OKey+v.LCnt)%suppliersPerPart)
			cost = price(part) * int64(v.Quantity)
		}
		r.int(int64(v.OKey)).int(part).int(supplier).int(int64(v.LCnt)).cents(100 * int64(v.Quantity)).cents(cost).
			cents(int64(v.Discount)).cents(int64(v.Tax)).text(string(v.RFlag)).text(string(v.LStatus)).
			text(v.SDate).text(v.CDate).text(v.RDate).text(v.ShipInstruct).text(v.ShipMode).text(v.Comment).end()
	}
}
