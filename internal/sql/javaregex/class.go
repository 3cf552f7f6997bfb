package javaregex

import (
	"strings"
	"unicode/utf8"
)

// class rewrites a class of characters, with the unions in it.
func (t *translator) class() error {
	t.at++
	t.out.WriteByte('[')
	if strings.HasPrefix(t.rest(), "^") {
		t.copy(1)
	}
	if err := t.members(true); err != nil {
		return err
	}
	t.out.WriteByte(']')
	return nil
}

// members rewrites the members of a class up to its end. A ] that is the first of all is
// one of them.
func (t *translator) members(first bool) error {
	for ; t.at < len(t.in); first = false {
		switch c := t.in[t.at]; {
		case c == ']' && first:
			t.at++
			t.out.WriteString(`\]`)
		case c == ']':
			t.at++
			return nil
		case c == '[' && strings.HasPrefix(t.rest(), "[^"):
			return t.unsupported("a negated class within a class")
		case c == '[':
			t.at++
			if err := t.members(true); err != nil {
				return err
			}
		case strings.HasPrefix(t.rest(), "&&"):
			return t.unsupported("the intersection '&&' of classes")
		case c == '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		case t.flags.comments && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			t.at++
		default:
			_, w := utf8.DecodeRuneInString(t.rest())
			t.copy(w)
		}
	}
	return t.bad("unclosed character class")
}

// classes are the escapes that stand for a class, as members of one.
var classes = map[byte]string{
	'd': `0-9`, 'w': `0-9A-Za-z_`, 's': ` \t\n\x0B\f\r`,
	'h': ` \t\x{A0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}`,
	'v': `\n\x0B\f\r\x{85}\x{2028}\x{2029}`,
}

// negated are the same for what is in none of them, which only stand within a class.
var negated = map[byte]string{
	'D': `\D`, 'W': `\W`, 'S': `\x00-\x08\x0E-\x1F!-\x{10FFFF}`,
	'H': `\x00-\x08\n-\x1F!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{180D}\x{180F}-\x{1FFF}\x{200B}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF}`,
	'V': `\x00-\t\x0E-\x{84}\x{86}-\x{2027}\x{202A}-\x{10FFFF}`,
}

// properties are Java's own names of properties.
var properties = map[string]string{
	"Lower": "a-z", "Upper": "A-Z", "ASCII": `\x00-\x7F`, "Alpha": "A-Za-z", "Digit": "0-9", "Alnum": "0-9A-Za-z",
	"Punct": "!-/:-@\\[-`{-~", "Graph": "!-~", "Print": " -~", "Blank": ` \t`, "Cntrl": `\x00-\x1F\x7F`,
	"XDigit": "0-9A-Fa-f", "Space": ` \t\n\x0B\f\r`,
	"IsAlphabetic": `\p{L}\p{Nl}`, "IsLetter": `\p{L}`, "IsDigit": `\p{Nd}`, "IsUppercase": `\p{Lu}`, "IsLowercase": `\p{Ll}`,
	"IsPunctuation": `\p{P}`, "IsWhite_Space": `\t-\r \x{85}\x{A0}\p{Z}`, "IsIdeographic": `\p{Han}`,
	"javaLowerCase": `\p{Ll}`, "javaUpperCase": `\p{Lu}`, "javaWhitespace": `\t-\r\x1C-\x1F \x{1680}\x{2000}-\x{2006}\x{2008}-\x{200A}\x{2028}\x{2029}\x{205F}\x{3000}`,
	"javaLetter": `\p{L}`, "javaDigit": `\p{Nd}`, "javaLetterOrDigit": `\p{L}\p{Nd}`,
}

// property rewrites \p{…} or \P{…}.
func (t *translator) property(inside bool) error {
	not := t.in[t.at+1] == 'P'
	var name string
	if strings.HasPrefix(t.in[t.at+2:], "{") {
		end := strings.IndexByte(t.rest(), '}')
		if end < 0 {
			return t.bad("unclosed character family")
		}
		name, t.at = t.in[t.at+3:t.at+end], t.at+end+1
	} else if t.at+2 < len(t.in) {
		name, t.at = t.in[t.at+2:t.at+3], t.at+3
	} else {
		return t.bad("a character family without name")
	}
	if members, ok := properties[name]; ok {
		switch {
		case !not && inside:
			t.out.WriteString(members)
		case !not:
			t.out.WriteString("[" + members + "]")
		case !inside:
			t.out.WriteString("[^" + members + "]")
		default:
			return t.unsupported(`\P{` + name + "} within a class")
		}
		return nil
	}
	for _, prefix := range []string{"IsScript=", "script=", "sc=", "general_category=", "gc=", "Is"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			name = rest
			break
		}
	}
	if strings.HasPrefix(name, "In") {
		return t.unsupported("the block " + name)
	}
	letter := `\p{`
	if not {
		letter = `\P{`
	}
	t.out.WriteString(letter + name + "}")
	return nil
}
