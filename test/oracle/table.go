package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// table reads a file of columns between tabs, whose first line names them.
func table(path string) ([]map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open a recording: %w", err)
	}
	defer f.Close()
	return readTable(f)
}

func readTable(r io.Reader) ([]map[string]string, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	var names []string
	var rows []map[string]string
	for lines.Scan() {
		cells := strings.Split(lines.Text(), "\t")
		if names == nil {
			names = cells
			continue
		}
		row := map[string]string{}
		for i, c := range cells {
			if i < len(names) {
				row[names[i]] = c
			}
		}
		rows = append(rows, row)
	}
	return rows, lines.Err()
}

// unescape takes the escapes off a cell.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'N':
			b.WriteString(null)
		case 'u':
			if i+5 <= len(s) {
				if r, err := strconv.ParseUint(s[i+1:i+5], 16, 32); err == nil {
					b.WriteRune(rune(r))
					i += 4
					continue
				}
			}
			b.WriteString(`\u`)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// escape puts the escapes in.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\\':
			b.WriteString(`\\`)
		case r < ' ':
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
