package javaregex

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// translator rewrites an expression of Java's as one of Go's.
type translator struct {
	in    string
	at    int
	out   strings.Builder
	flags flags
	stack []flags // those before each open group
}

// flags are those that change how an expression is rewritten.
type flags struct{ dotAll, unixLines, comments bool }

const (
	notLineEnd = `[^\n\r\x{85}\x{2028}\x{2029}]`
	notNewline = `[^\n]`
)

func translate(pattern string) (string, error) {
	t := &translator{in: pattern}
	for t.at < len(t.in) {
		if err := t.next(); err != nil {
			return "", err
		}
	}
	return t.out.String(), nil
}

func (t *translator) bad(reason string) error { return &SyntaxError{t.in, reason} }

func (t *translator) unsupported(construct string) error {
	return &UnsupportedError{t.in, construct}
}

func (t *translator) rest() string { return t.in[t.at:] }

// copy writes n bytes as they are.
func (t *translator) copy(n int) {
	t.out.WriteString(t.in[t.at : t.at+n])
	t.at += n
}

// next rewrites what comes next outside of a class.
func (t *translator) next() error {
	switch c := t.in[t.at]; {
	case c == '\\':
		return t.escape(false)
	case c == '[':
		return t.class()
	case c == '(':
		return t.group()
	case c == ')':
		if n := len(t.stack); n > 0 {
			t.flags, t.stack = t.stack[n-1], t.stack[:n-1]
		}
		t.copy(1)
	case c == '.':
		t.at++
		t.dot()
	case c == '*' || c == '+' || c == '?' || c == '{':
		return t.quantifier()
	case t.flags.comments && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
		t.at++
	case t.flags.comments && c == '#':
		for t.at < len(t.in) && t.in[t.at] != '\n' {
			t.at++
		}
	case c == ']' || c == '}':
		t.out.WriteByte('\\')
		t.copy(1)
	default:
		_, w := utf8.DecodeRuneInString(t.rest())
		t.copy(w)
	}
	return nil
}

func (t *translator) dot() {
	switch {
	case t.flags.dotAll:
		t.out.WriteString(`(?s:.)`)
	case t.flags.unixLines:
		t.out.WriteString(notNewline)
	default:
		t.out.WriteString(notLineEnd)
	}
}

// quantifier copies one, and refuses one that never gives back.
func (t *translator) quantifier() error {
	n := 1
	if t.in[t.at] == '{' {
		end := strings.IndexByte(t.rest(), '}')
		if end < 0 {
			return t.bad("unclosed counted closure")
		}
		body := t.in[t.at+1 : t.at+end]
		first, last, ranged := strings.Cut(body, ",")
		low, err := strconv.Atoi(first)
		if err != nil {
			return t.bad("illegal repetition")
		}
		high := low
		if ranged && last != "" {
			if high, err = strconv.Atoi(last); err != nil || high < low {
				return t.bad("illegal repetition range")
			}
		}
		if max(low, high) > 1000 {
			return t.unsupported("a repetition of more than 1000 times")
		}
		n = end + 1
	}
	t.copy(n)
	if strings.HasPrefix(t.rest(), "+") {
		return t.unsupported("the possessive quantifier '" + t.in[t.at-n:t.at+1] + "'")
	}
	if strings.HasPrefix(t.rest(), "?") {
		t.copy(1)
	}
	return nil
}

// group rewrites the beginning of a group.
func (t *translator) group() error {
	rest := t.rest()
	for prefix, name := range map[string]string{
		"(?=": "look-ahead", "(?!": "look-ahead", "(?<=": "look-behind", "(?<!": "look-behind", "(?>": "an atomic group",
	} {
		if strings.HasPrefix(rest, prefix) {
			return t.unsupported(name + " '" + prefix + "…)'")
		}
	}
	if !strings.HasPrefix(rest, "(?") || strings.HasPrefix(rest, "(?:") || strings.HasPrefix(rest, "(?<") {
		t.stack = append(t.stack, t.flags)
		n := 1
		if strings.HasPrefix(rest, "(?:") {
			n = 3
		} else if strings.HasPrefix(rest, "(?<") {
			n = 3
		}
		t.copy(n)
		return nil
	}
	return t.flagGroup()
}

// flagGroup rewrites (?flags) and (?flags:. Those that Go has not are done here.
func (t *translator) flagGroup() error {
	i, on := t.at+2, true
	set, kept := t.flags, [2]string{}
	for ; i < len(t.in) && t.in[i] != ')' && t.in[i] != ':'; i++ {
		switch c := t.in[i]; c {
		case '-':
			on = false
		case 's':
			set.dotAll = on
		case 'd':
			set.unixLines = on
		case 'x':
			set.comments = on
		case 'i', 'm':
			if on {
				kept[0] += string(c)
			} else {
				kept[1] += string(c)
			}
		case 'u':
		case 'U':
			return t.unsupported("the flag (?U)")
		default:
			return t.bad("unknown inline modifier '" + string(c) + "'")
		}
	}
	if i >= len(t.in) {
		return t.bad("unknown inline modifier")
	}
	flags := kept[0]
	if kept[1] != "" {
		flags += "-" + kept[1]
	}
	if t.in[i] == ':' {
		t.stack = append(t.stack, t.flags)
		t.out.WriteString("(?" + flags + ":")
	} else if flags != "" {
		t.out.WriteString("(?" + flags + ")")
	}
	t.flags = set
	t.at = i + 1
	return nil
}
