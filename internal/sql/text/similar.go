package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// similarSpecials are the characters with a meaning in SIMILAR TO, regexSpecials those
// with one in a regular expression.
const (
	similarSpecials = `[]()|^-+*_%?{}`
	regexSpecials   = `[]()|^-+*?{}$\.`
)

// similarClasses are the classes that may stand within brackets.
var similarClasses = []struct{ name, members string }{
	{"[:ALPHA:]", `\p{Alpha}`}, {"[:alpha:]", `\p{Alpha}`}, {"[:UPPER:]", `\p{Upper}`}, {"[:upper:]", `\p{Upper}`},
	{"[:LOWER:]", `\p{Lower}`}, {"[:lower:]", `\p{Lower}`}, {"[:DIGIT:]", `\d`}, {"[:digit:]", `\d`},
	{"[:SPACE:]", ` `}, {"[:space:]", ` `}, {"[:WHITESPACE:]", `\s`}, {"[:whitespace:]", `\s`},
	{"[:ALNUM:]", `\p{Alnum}`}, {"[:alnum:]", `\p{Alnum}`},
}

// SimilarToRegex rewrites a pattern of SIMILAR TO as a regular expression of package
// javaregex that must match all of a text. escape is empty or one character.
func SimilarToRegex(pattern, escape string) (string, error) {
	if utf8.RuneCountInString(escape) > 1 {
		return "", fmt.Errorf("compiling SIMILAR TO pattern %q: the escape character is %q, allowed is a single character", pattern, escape)
	}
	s := similar{in: []rune(pattern), esc: -1}
	if escape != "" {
		s.esc, _ = utf8.DecodeRuneInString(escape)
	}
	if err := s.rewrite(); err != nil {
		return "", fmt.Errorf("compiling SIMILAR TO pattern %q: %w", pattern, err)
	}
	return s.out.String(), nil
}

type similar struct {
	in  []rune
	at  int
	esc rune
	out strings.Builder
}

func (s *similar) rewrite() error {
	for ; s.at < len(s.in); s.at++ {
		switch r := s.in[s.at]; {
		case r == s.esc:
			if err := s.escaped(); err != nil {
				return err
			}
		case r == '_':
			s.out.WriteByte('.')
		case r == '%':
			s.out.WriteString("(?s:.*)")
		case r == '\\' || r == '$':
			s.out.WriteString(`\` + string(r))
		case r == '[':
			if err := s.class(); err != nil {
				return err
			}
		case r == ']':
			return fmt.Errorf("invalid regular expression at character %d: ']' without '['", s.at+1)
		default:
			s.out.WriteRune(r)
		}
	}
	return nil
}

// escaped writes the character behind the escape character as it is.
func (s *similar) escaped() error {
	s.at++
	if s.at >= len(s.in) {
		return fmt.Errorf("the escape character %q is the last one", s.esc)
	}
	r := s.in[s.at]
	if r != s.esc && !strings.ContainsRune(similarSpecials, r) {
		return fmt.Errorf("invalid escape sequence at character %d; the escape character %q may stand before %s and itself", s.at, s.esc, similarSpecials)
	}
	if strings.ContainsRune(regexSpecials, r) {
		s.out.WriteByte('\\')
	}
	s.out.WriteRune(r)
	return nil
}

// class rewrites what stands in brackets.
func (s *similar) class() error {
	s.out.WriteByte('[')
	for s.at++; s.at < len(s.in); s.at++ {
		switch r := s.in[s.at]; {
		case r == ']':
			s.out.WriteByte(']')
			return nil
		case r == s.esc:
			if err := s.escaped(); err != nil {
				return err
			}
		case r == '-' || r == '^':
			s.out.WriteRune(r)
		case r == '[':
			if !s.named() {
				return fmt.Errorf("invalid regular expression at character %d", s.at+1)
			}
		case strings.ContainsRune(similarSpecials, r):
			return fmt.Errorf("invalid regular expression at character %d: %q within brackets", s.at+1, r)
		case r == '\\':
			s.out.WriteString(`\\`)
		default:
			s.out.WriteRune(r)
		}
	}
	return fmt.Errorf("invalid regular expression at character %d: '[' without ']'", len(s.in))
}

// named rewrites a class given by its name.
func (s *similar) named() bool {
	rest := string(s.in[s.at:])
	for _, c := range similarClasses {
		if strings.HasPrefix(rest, c.name) {
			s.out.WriteString(c.members)
			s.at += len(c.name) - 1
			return true
		}
	}
	return false
}
