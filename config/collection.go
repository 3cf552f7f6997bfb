package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// parseList splits s at semicolons. An element that holds one stands in
// single or double quotes, and doubles the quotes inside it.
func parseList(s string) ([]string, error) {
	parts, err := split(s, ';')
	if err != nil {
		return nil, err
	}
	var out []string
	for _, part := range parts {
		if part != "" {
			out = append(out, part)
		}
	}
	return out, nil
}

func formatList(elements []string) string {
	quoted := make([]string, len(elements))
	for i, e := range elements {
		quoted[i] = quote(e, ";")
	}
	return strings.Join(quoted, ";")
}

// parseMap reads "a:1,b:2". Quoting is as in lists.
func parseMap(s string) (map[string]string, error) {
	parts, err := split(s, ',')
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(parts))
	for _, part := range parts {
		if part == "" {
			continue
		}
		name, value, found := strings.Cut(part, ":")
		name = strings.TrimSpace(name)
		if !found || name == "" {
			return nil, fmt.Errorf("no NAME:VALUE in %q", part)
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("%q given twice", name)
		}
		out[name] = strings.TrimSpace(value)
	}
	return out, nil
}

func formatMap(m map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, quote(name+":"+m[name], ","))
	}
	return strings.Join(parts, ",")
}

// split cuts s at each separator outside quotes, removes the quotes and trims
// what stood outside them. A quote counts only at the start of an element.
func split(s string, separator byte) ([]string, error) {
	var parts []string
	for rest := s; ; {
		element, after, more, err := nextElement(rest, separator)
		if err != nil {
			return nil, err
		}
		parts = append(parts, element)
		if !more {
			return parts, nil
		}
		rest = after
	}
}

func nextElement(s string, separator byte) (element, after string, more bool, err error) {
	s = strings.TrimLeft(s, " \t")
	if s == "" || s[0] != '"' && s[0] != '\'' {
		element, after, more = strings.Cut(s, string(separator))
		return strings.TrimSpace(element), after, more, nil
	}
	mark := s[0]
	var b strings.Builder
	i := 1
	for ; ; i++ {
		if i >= len(s) {
			return "", "", false, errors.New("a quote is not closed")
		}
		if s[i] == mark {
			if i+1 >= len(s) || s[i+1] != mark {
				break
			}
			i++
		}
		b.WriteByte(s[i])
	}
	rest := strings.TrimLeft(s[i+1:], " \t")
	if rest != "" && rest[0] != separator {
		return "", "", false, fmt.Errorf("text after a closing quote: %q", rest)
	}
	if rest == "" {
		return b.String(), "", false, nil
	}
	return b.String(), rest[1:], true, nil
}

// quote puts s in double quotes when split would not return it unchanged.
func quote(s, separators string) string {
	if s != "" && !strings.ContainsAny(s, separators+`"'`) && strings.TrimSpace(s) == s {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
