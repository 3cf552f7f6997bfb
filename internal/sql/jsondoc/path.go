package jsondoc

import (
	"fmt"
	"strconv"
	"strings"
)

// Path is a compiled path of SQL/JSON: an optional lax or strict, $, and steps.
type Path struct {
	// Lax says that what is not found is nothing, and no error. A path that does not say
	// is strict.
	Lax   bool
	text  string
	steps []step
	// many says that the path may find several values: it gives an array.
	many bool
	fn   string
}

type stepKind uint8

const (
	keysStep    stepKind = iota // one key or several
	allStep                     // * of an object or an array
	indexesStep                 // positions, from the end if negative
	sliceStep                   // from and to, which may be missing
	deepStep                    // .. : the value and all below it
)

type step struct {
	kind     stepKind
	keys     []string
	indexes  []int
	from, to int
	hasFrom  bool
	hasTo    bool
}

// PathError says that a text is no path.
type PathError struct{ Path, Reason string }

func (e *PathError) Error() string { return fmt.Sprintf("JSON path %q: %s", e.Path, e.Reason) }

// UnsupportedPathError says that a path has what is not supported here.
type UnsupportedPathError struct{ Path, Construct string }

func (e *UnsupportedPathError) Error() string {
	return fmt.Sprintf("JSON path %q: %s is not supported; allowed are keys, positions, slices, * and ..", e.Path, e.Construct)
}

// CompilePath compiles a path.
func CompilePath(text string) (*Path, error) {
	p := &Path{text: text}
	rest := strings.TrimSpace(text)
	if mode, spec, ok := strings.Cut(rest, " "); ok && (strings.EqualFold(mode, "lax") || strings.EqualFold(mode, "strict")) {
		p.Lax = strings.EqualFold(mode, "lax")
		rest = strings.TrimSpace(spec)
	} else if rest != "" && text[0] != rest[0] {
		return nil, &PathError{text, "it begins with a blank, and neither lax nor strict follows"}
	}
	if rest == "" {
		return nil, &PathError{text, "it is empty"}
	}
	if rest[0] != '$' && rest[0] != '@' {
		rest = "$." + rest
	}
	c := &pathCompiler{path: p, s: rest, at: 1}
	for c.at < len(c.s) {
		if err := c.step(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

type pathCompiler struct {
	path *Path
	s    string
	at   int
}

func (c *pathCompiler) bad(reason string) error { return &PathError{c.path.text, reason} }

func (c *pathCompiler) add(s step, many bool) {
	c.path.steps = append(c.path.steps, s)
	c.path.many = c.path.many || many
}

func (c *pathCompiler) step() error {
	switch c.s[c.at] {
	case '.':
		c.at++
		if strings.HasPrefix(c.s[c.at:], ".") {
			c.at++
			c.add(step{kind: deepStep}, true)
		}
		if c.at >= len(c.s) {
			return c.bad("it ends with '.'")
		}
		if c.s[c.at] == '[' {
			return c.bracket()
		}
		return c.name()
	case '[':
		return c.bracket()
	}
	return c.bad(fmt.Sprintf("'.' or '[' is expected at character %d", c.at+1))
}

// name reads a key, * or the call of a function.
func (c *pathCompiler) name() error {
	if c.s[c.at] == '*' {
		c.at++
		c.add(step{kind: allStep}, true)
		return nil
	}
	end := c.at
	for end < len(c.s) && strings.IndexByte(".[(", c.s[end]) < 0 {
		if c.s[end] == ' ' || c.s[end] == '\t' || c.s[end] == '\n' || c.s[end] == '\r' {
			return c.bad("a key with blanks must be in brackets: ['a b']")
		}
		end++
	}
	key := c.s[c.at:end]
	if key == "" {
		return c.bad("a key is expected")
	}
	c.at = end
	if end < len(c.s) && c.s[end] == '(' {
		return c.call(key)
	}
	c.add(step{kind: keysStep, keys: []string{key}}, false)
	return nil
}

// functions are those that may end a path.
var functions = map[string]bool{"length": true, "size": true, "min": true, "max": true, "sum": true, "avg": true, "keys": true}

func (c *pathCompiler) call(name string) error {
	if !functions[name] {
		return &UnsupportedPathError{c.path.text, "the function " + name + "()"}
	}
	if c.s[c.at:] != "()" {
		return c.bad("the function " + name + "() takes no arguments and ends the path")
	}
	c.at = len(c.s)
	c.path.fn = name
	return nil
}

// bracket reads what stands in brackets.
func (c *pathCompiler) bracket() error {
	c.at++
	c.blanks()
	if c.at >= len(c.s) {
		return c.bad("']' is missing")
	}
	switch ch := c.s[c.at]; {
	case ch == '*':
		c.at++
		c.add(step{kind: allStep}, true)
	case ch == '\'' || ch == '"':
		if err := c.keys(); err != nil {
			return err
		}
	case ch == '?':
		return &UnsupportedPathError{c.path.text, "a filter [?…]"}
	default:
		if err := c.positions(); err != nil {
			return err
		}
	}
	c.blanks()
	if c.at >= len(c.s) || c.s[c.at] != ']' {
		return c.bad("']' is missing")
	}
	c.at++
	return nil
}

func (c *pathCompiler) blanks() {
	for c.at < len(c.s) && c.s[c.at] == ' ' {
		c.at++
	}
}

func (c *pathCompiler) keys() error {
	s := step{kind: keysStep}
	for {
		quote := c.s[c.at]
		var key strings.Builder
		for c.at++; ; c.at++ {
			if c.at >= len(c.s) {
				return c.bad("a key is not ended")
			}
			if c.s[c.at] == '\\' && c.at+1 < len(c.s) {
				c.at++
			} else if c.s[c.at] == quote {
				break
			}
			key.WriteByte(c.s[c.at])
		}
		c.at++
		s.keys = append(s.keys, key.String())
		c.blanks()
		if c.at >= len(c.s) || c.s[c.at] != ',' {
			break
		}
		c.at++
		c.blanks()
		if c.at >= len(c.s) || c.s[c.at] != '\'' && c.s[c.at] != '"' {
			return c.bad("a key in quotes is expected behind ','")
		}
	}
	c.add(s, len(s.keys) > 1)
	return nil
}

// positions reads numbers with commas or a slice.
func (c *pathCompiler) positions() error {
	end := strings.IndexByte(c.s[c.at:], ']')
	if end < 0 {
		return c.bad("']' is missing")
	}
	body := strings.TrimSpace(c.s[c.at : c.at+end])
	c.at += end
	if from, to, slice := strings.Cut(body, ":"); slice {
		s := step{kind: sliceStep}
		var ok1, ok2 bool
		s.from, s.hasFrom, ok1 = bound(from)
		s.to, s.hasTo, ok2 = bound(to)
		if !ok1 || !ok2 || !s.hasFrom && !s.hasTo {
			return c.bad("a slice is written [from:to]")
		}
		c.add(s, true)
		return nil
	}
	s := step{kind: indexesStep}
	for part := range strings.SplitSeq(body, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return c.bad(fmt.Sprintf("%q is no position; keys stand in quotes", part))
		}
		s.indexes = append(s.indexes, i)
	}
	c.add(s, len(s.indexes) > 1)
	return nil
}

func bound(s string) (v int, has, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false, true
	}
	v, err := strconv.Atoi(s)
	return v, true, err == nil
}
