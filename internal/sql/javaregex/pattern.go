package javaregex

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"
	"unicode/utf8"
)

// Pattern is a compiled expression. It may be used by many goroutines.
type Pattern struct {
	re   *regexp.Regexp
	prog *syntax.Prog
	// prefix is what every match begins with, atBegin says that one begins the text.
	prefix      string
	prefixBytes []byte
	atBegin     bool
	// first are the bytes that a match may begin with that does not begin the text.
	first [256]bool
	// empty says that the expression can match nothing, rooted that it looks at what is
	// before a match.
	empty, rooted bool

	machines sync.Pool // of *machine
}

// SyntaxError says that an expression is none.
type SyntaxError struct{ Pattern, Reason string }

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("compiling regular expression %q: %s", e.Pattern, e.Reason)
}

// UnsupportedError says that an expression has what only Java's matcher can do.
type UnsupportedError struct{ Pattern, Construct string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("compiling regular expression %q: %s is not supported, because the matcher promises linear time", e.Pattern, e.Construct)
}

// Compile compiles an expression.
func Compile(pattern string) (*Pattern, error) {
	translated, err := translate(pattern)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(translated)
	if err != nil {
		return nil, &SyntaxError{pattern, err.Error()}
	}
	tree, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return nil, &SyntaxError{pattern, err.Error()}
	}
	p := &Pattern{re: re, empty: canBeEmpty(tree), rooted: looksBack(tree)}
	p.prefix, _ = re.LiteralPrefix()
	p.prefixBytes = []byte(p.prefix)
	if p.prog, err = syntax.Compile(tree.Simplify()); err != nil {
		return nil, &SyntaxError{pattern, err.Error()}
	}
	p.atBegin = p.prog.StartCond()&syntax.EmptyBeginText != 0
	p.first = firstBytes(p.prog)
	p.machines.New = func() any { return &machine{} }
	return p, nil
}

// Groups is the number of groups, the whole match not counted.
func (p *Pattern) Groups() int { return p.re.NumSubexp() }

// Find reports whether the expression is found anywhere in s.
func (p *Pattern) Find(s []byte) bool { return p.re.Match(s) }

// Matches reports whether all of s is a match. The expression must have been compiled
// by CompileWhole.
func (p *Pattern) Matches(s []byte) bool { return p.re.Match(s) }

// CompileWhole compiles an expression that shall match all of a text.
func CompileWhole(pattern string) (*Pattern, error) {
	if _, err := translate(pattern); err != nil {
		return nil, err
	}
	return Compile(`\A(?:` + pattern + `)\z`)
}

// First appends where the first match and its groups are, to what is given: pairs of
// offsets, -1 for a group that took no part. It appends nothing if there is no match.
func (p *Pattern) First(dst []int, s []byte) []int {
	if !p.suits(s) {
		return append(dst, p.re.FindSubmatchIndex(s)...)
	}
	m := p.machines.Get().(*machine)
	if m.find(p, s, 0) {
		dst = append(dst, m.groups...)
	}
	p.machines.Put(m)
	return dst
}

// Each calls found for every match, as First gives them, until it returns false. Matches
// do not overlap; a match of nothing may stand right behind another. What found is given
// holds during the call only.
func (p *Pattern) Each(s []byte, found func(match []int) bool) {
	if !p.suits(s) {
		p.eachOfLong(s, found)
		return
	}
	m := p.machines.Get().(*machine)
	for at := 0; at <= len(s) && m.find(p, s, at) && found(m.groups); {
		at = m.groups[1]
		if m.groups[0] == at {
			_, w := utf8.DecodeRune(s[at:])
			at += max(w, 1)
		}
	}
	p.machines.Put(m)
}

// eachOfLong is Each for a text that no machine looks through. Where the expression looks
// back and can match nothing, a match of nothing right behind another is not found.
func (p *Pattern) eachOfLong(s []byte, found func(match []int) bool) {
	if !p.empty || p.rooted {
		for _, m := range p.re.FindAllSubmatchIndex(s, -1) {
			if !found(m) {
				return
			}
		}
		return
	}
	for at := 0; at <= len(s); {
		m := p.re.FindSubmatchIndex(s[at:])
		if m == nil {
			return
		}
		for i := range m {
			if m[i] >= 0 {
				m[i] += at
			}
		}
		if !found(m) {
			return
		}
		at = m[1]
		if m[0] == m[1] {
			_, w := utf8.DecodeRune(s[at:])
			at += max(w, 1)
		}
	}
}

// Replace appends s with every match replaced by text, taken as it is.
func (p *Pattern) Replace(dst, s, text []byte) []byte {
	at := 0
	p.Each(s, func(m []int) bool {
		dst = append(append(dst, s[at:m[0]]...), text...)
		at = m[1]
		return true
	})
	return append(dst, s[at:]...)
}

// Split calls part for what lies between matches, as Java's String.split: a match of
// nothing at the beginning separates nothing. With a limit above 0 there are at most so
// many parts, else empty ones at the end are left out.
func (p *Pattern) Split(s []byte, limit int, part func([]byte)) {
	var ends []int // of pairs: where a part begins and ends
	at := 0
	p.Each(s, func(m []int) bool {
		if limit > 0 && len(ends)/2 == limit-1 {
			return false
		}
		if m[1] > 0 && (m[0] < len(s) || m[0] < m[1]) {
			ends = append(ends, at, m[0])
			at = m[1]
		} else if m[0] == m[1] && m[0] == len(s) && at < len(s) && limit > 0 {
			ends = append(ends, at, m[0])
			at = m[1]
		}
		return true
	})
	parted := len(ends) > 0
	ends = append(ends, at, len(s))
	if limit <= 0 && parted {
		for len(ends) > 0 && ends[len(ends)-1] == ends[len(ends)-2] {
			ends = ends[:len(ends)-2]
		}
	}
	for i := 0; i < len(ends); i += 2 {
		part(s[ends[i]:ends[i+1]])
	}
}

// canBeEmpty reports whether an expression can match nothing.
func canBeEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune) == 0
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return canBeEmpty(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min == 0 || canBeEmpty(re.Sub[0])
	case syntax.OpConcat:
		for _, s := range re.Sub {
			if !canBeEmpty(s) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, s := range re.Sub {
			if canBeEmpty(s) {
				return true
			}
		}
		return false
	}
	return true
}

// looksBack reports whether an expression asks what is before a match.
func looksBack(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	for _, s := range re.Sub {
		if looksBack(s) {
			return true
		}
	}
	return false
}
