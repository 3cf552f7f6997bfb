package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// queryCase is one recorded query.
type queryCase struct {
	name, query, pre string
	settings         map[string]string
	streamOnly       bool
	tables           []caseTable
	input            []caseRow
	batch, final     outcome
}

// caseTable is a table or a sink of a case.
type caseTable struct {
	name, columns, changelog string
	sink, lookup             bool
	key                      string
}

// caseRow is a row of an input.
type caseRow struct {
	table, kind string
	cells       []any
}

// outcome is what was recorded: sorted rows, or why there are none.
type outcome struct {
	told  bool
	error string
	rows  []string
}

// readCase reads a file of a case.
func readCase(path string) (*queryCase, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := &queryCase{settings: map[string]string{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	key := ""
	for lines.Scan() {
		line := lines.Text()
		if body, ok := strings.CutPrefix(line, "  "); ok {
			if err := c.body(key, body); err != nil {
				return nil, fmt.Errorf("%s: %q: %w", path, line, err)
			}
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key = name
		c.head(key, strings.TrimSpace(value))
	}
	return c, lines.Err()
}

// head takes a line that begins a block.
func (c *queryCase) head(key, value string) {
	switch key {
	case "case":
		c.name = value
	case "set":
		option, setting, _ := strings.Cut(value, "=")
		if option == "tz" {
			option = "table.local-time-zone"
		}
		c.settings[option] = setting
	case "mode":
		c.streamOnly = value == "stream"
	case "table", "sink":
		c.tables = append(c.tables, caseTable{name: value, sink: key == "sink"})
	case "batch", "final":
		a := outcome{told: !strings.HasPrefix(value, "not-run")}
		a.error, _ = strings.CutPrefix(value, "error ")
		if value == "ok" {
			a.error = ""
		}
		if key == "batch" {
			c.batch = a
		} else {
			c.final = a
		}
	}
}

// body takes a line of a block.
func (c *queryCase) body(key, line string) error {
	switch key {
	case "query":
		c.query += line + "\n"
	case "pre":
		c.pre += line + "\n"
	case "table", "sink":
		t := &c.tables[len(c.tables)-1]
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "changelog":
			t.changelog = strings.TrimSpace(value)
		case "lookup":
			t.lookup = true
			if _, k, ok := strings.Cut(value, "key:"); ok {
				t.key = strings.TrimSpace(k)
			}
		case "key":
			t.key = strings.TrimSpace(value)
		default:
			t.columns += line + "\n"
		}
	case "input":
		part := strings.SplitN(line, " ", 3)
		row := caseRow{table: part[0], kind: part[1]}
		d := json.NewDecoder(strings.NewReader(part[2]))
		d.UseNumber()
		if err := d.Decode(&row.cells); err != nil {
			return err
		}
		c.input = append(c.input, row)
	case "batch":
		c.batch.rows = append(c.batch.rows, line)
	case "final":
		c.final.rows = append(c.final.rows, line)
	}
	return nil
}
