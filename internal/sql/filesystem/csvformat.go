package filesystem

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// csvFormat is how values are written in lines.
type csvFormat struct {
	delimiter  byte
	quote      byte // 0: none
	escape     byte // 0: none
	comments   bool
	header     bool // the first record of a file names its columns
	lenient    bool // what cannot be read is NULL
	null       string
	hasNull    bool
	disabled   bool // quoting
	separators string
}

func newCSVFormat() csvFormat { return csvFormat{delimiter: ',', quote: '"', separators: ";"} }

var csvOptions = []string{"csv.field-delimiter", "csv.quote-character", "csv.disable-quote-character", "csv.allow-comments", "csv.header",
	"csv.ignore-parse-errors", "csv.array-element-delimiter", "csv.escape-character", "csv.null-literal", "csv.write-bigdecimal-in-scientific-notation"}

// set takes an option; known is false if it is none of the format's.
func (f *csvFormat) set(key, value string) (known bool, err error) {
	switch key {
	case "csv.field-delimiter":
		f.delimiter, err = character(value)
	case "csv.quote-character":
		f.quote, err = character(value)
	case "csv.escape-character":
		f.escape, err = character(value)
	case "csv.disable-quote-character":
		f.disabled, err = truth(value)
	case "csv.header":
		f.header, err = truth(value)
	case "csv.allow-comments":
		f.comments, err = truth(value)
	case "csv.ignore-parse-errors":
		f.lenient, err = truth(value)
	case "csv.null-literal":
		f.null, f.hasNull = value, true
	case "csv.array-element-delimiter":
		f.separators = value
	case "csv.write-bigdecimal-in-scientific-notation":
		_, err = truth(value)
	default:
		return false, nil
	}
	return true, err
}

// quoted is the quoting character; 0: none.
func (f *csvFormat) quoted() byte {
	if f.disabled {
		return 0
	}
	return f.quote
}

// character reads one ASCII character, which may be written as in Java.
func character(text string) (byte, error) {
	if len(text) > 1 && text[0] == '\\' {
		if unquoted, err := strconv.Unquote(`"` + text + `"`); err == nil {
			text = unquoted
		}
	}
	if len(text) != 1 || text[0] >= utf8.RuneSelf || text[0] == '\n' || text[0] == '\r' {
		return 0, fmt.Errorf("'%s' is not one ASCII character", text)
	}
	return text[0], nil
}

func truth(text string) (bool, error) {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("'%s' is neither true nor false", text)
	}
	return v, nil
}
