package config

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/internal/memory"
)

// Size is a number of bytes.
type Size = memory.Size

// A kind is a type of value: how it is written and read.
type kind[T any] struct {
	name    string // as in "not a valid NAME"
	forms   string // what may be written, for error texts
	members bool   // entries may be written as KEY.member
	parse   func(string) (T, error)
	format  func(T) string
}

var text = kind[string]{
	name:   "string",
	forms:  "any text",
	parse:  func(s string) (string, error) { return s, nil },
	format: func(s string) string { return s },
}

var boolean = kind[bool]{
	name:  "boolean",
	forms: "true or false",
	parse: func(s string) (bool, error) {
		switch strings.ToLower(s) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return false, errForm
	},
	format: strconv.FormatBool,
}

var integer = kind[int]{
	name:   "integer",
	forms:  "a whole number from -2147483648 to 2147483647",
	parse:  func(s string) (int, error) { n, err := strconv.ParseInt(s, 10, 32); return int(n), bare(err) },
	format: strconv.Itoa,
}

var long = kind[int64]{
	name:   "integer",
	forms:  "a whole number of at most 64 bits",
	parse:  func(s string) (int64, error) { n, err := strconv.ParseInt(s, 10, 64); return n, bare(err) },
	format: func(n int64) string { return strconv.FormatInt(n, 10) },
}

var decimal = kind[float64]{
	name:  "number",
	forms: "a decimal number such as 0.4",
	parse: func(s string) (float64, error) {
		f, err := strconv.ParseFloat(s, 64)
		if err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
			err = errForm
		}
		return f, bare(err)
	},
	format: func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) },
}

var size = kind[Size]{
	name:   "memory size",
	forms:  memory.Forms,
	parse:  memory.Parse,
	format: Size.String,
}

var duration = kind[time.Duration]{
	name:   "duration",
	forms:  durationForms,
	parse:  parseDuration,
	format: formatDuration,
}

// paths is a list of directories. Commas, bars and the system's own separator
// of paths separate them, as in Flink; so do the semicolons of a YAML list.
var paths = kind[[]string]{
	name:  "list of paths",
	forms: "paths separated by commas, or a YAML list",
	parse: func(s string) ([]string, error) {
		return parseList(strings.NewReplacer(",", ";", "|", ";", string(os.PathListSeparator), ";").Replace(s))
	},
	format: func(v []string) string { return strings.Join(v, ",") },
}

// locations is a list of directories that may be URIs, whose colons separate
// nothing.
var locations = kind[[]string]{
	name:   "list of locations",
	forms:  "paths or file: URIs separated by commas, or a YAML list",
	parse:  func(s string) ([]string, error) { return parseList(strings.ReplaceAll(s, ",", ";")) },
	format: func(v []string) string { return strings.Join(v, ",") },
}

var dictionary = kind[map[string]string]{
	name:    "map",
	forms:   "NAME:VALUE pairs separated by commas, or a YAML map",
	members: true,
	parse:   parseMap,
	format:  formatMap,
}

// choice is one of a few words. Case does not matter, nor does "-" for "_";
// the value is the word as it stands in words.
func choice[T ~string](words ...T) kind[T] {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	plain := strings.NewReplacer("-", "_")
	return kind[T]{
		name:  "choice",
		forms: "one of " + strings.Join(names, ", "),
		parse: func(s string) (T, error) {
			for _, w := range words {
				if strings.EqualFold(plain.Replace(string(w)), plain.Replace(s)) {
					return w, nil
				}
			}
			return "", errForm
		},
		format: func(v T) string { return string(v) },
	}
}

// errForm is returned by parse functions that have nothing to say but that
// the text has none of the allowed forms.
var errForm = errors.New("not of an allowed form")

// bare replaces an error that says no more than errForm does.
func bare(err error) error {
	if err == nil {
		return nil
	}
	return errForm
}

func between(low, high int) func(int) error {
	return func(n int) error {
		if n < low || n > high {
			return fmt.Errorf("must be from %d to %d", low, high)
		}
		return nil
	}
}

func atLeast[T ~int | ~int64](low T) func(T) error {
	return func(n T) error {
		if n < low {
			return fmt.Errorf("must be at least %v", low)
		}
		return nil
	}
}

func positive(d time.Duration) error {
	if d <= 0 {
		return errors.New("must be longer than zero")
	}
	return nil
}
