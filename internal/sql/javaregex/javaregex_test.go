package javaregex

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	for _, c := range []struct{ pattern, text, want string }{
		{`o`, "foobar", "[1 2] [2 3]"},
		{``, "ab", "[0 0] [1 1] [2 2]"},
		{`a*`, "aab", "[0 2] [2 2] [3 3]"},
		{`[A-Z](\w+)`, "Hello World", "[0 5 1 5] [6 11 7 11]"},
		{`a.c`, "a\rc a\u2028c abc", "[10 13]"},
		{`(?s)a.c`, "a\nc", "[0 3]"},
		{`\p{Alpha}+`, "é1ab", "[3 5]"},
		{`[\d\s]+`, "a1 2b", "[1 4]"},
		{`[a[xz]]+`, "bzax", "[1 4]"},
		{`\Qa.b\E`, "aXb a.b", "[4 7]"},
		{`\u0041\x42\0103`, "ABC", "[0 3]"},
		{`(?x) a b # comment`, "ab", "[0 2]"},
		{`(?i:A)a`, "aa aA", "[0 2]"},
		{`[]a]`, "x]", "[1 2]"},
		{`\b`, "ab c", "[0 0] [2 2] [3 3] [4 4]"},
		{`^a*`, "aab", "[0 2]"},
		{`(a|ab)(c|bcd)(d*)`, "abcd", "[0 4 0 1 1 4 4 4]"},
		{`(a)|b`, "ba", "[0 1 -1 -1] [1 2 1 2]"},
		{`(?:(a)|b)*`, "ab", "[0 2 0 1] [2 2 -1 -1]"},
	} {
		p, err := Compile(c.pattern)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		var got []string
		p.Each([]byte(c.text), func(m []int) bool { got = append(got, fmt.Sprint(m)); return true })
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q in %q: %s, want %s", c.pattern, c.text, s, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		limit         int
		want          string
	}{
		{",", "a,b,,", 0, "a|b"},
		{",", ",a", 0, "|a"},
		{",", "", 0, ""},
		{"", "abc", 0, "a|b|c"},
		{"", "a", 2, "a|"},
		{"|", "a|1", 2, "a||1"},
		{"=", "a=b=c", 2, "a|b=c"},
		{",", ",,", 0, ""},
	} {
		p, err := Compile(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		p.Split([]byte(c.text), c.limit, func(b []byte) { got = append(got, string(b)) })
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%q by %q: %q, want %q", c.text, c.pattern, s, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, p := range []string{`(`, `[a`, `a{`, `*`, `\`, `\y`, `(?q)`, `a)`} {
		_, err := Compile(p)
		var bad *SyntaxError
		if !errors.As(err, &bad) {
			t.Errorf("%q: %v, want a syntax error", p, err)
		}
	}
	for _, p := range []string{`(?=a)`, `(?<!a)b`, `(a)\1`, `a++`, `(?>a)`, `[a-z&&[^b]]`, `\Ga`, `(?U)a`} {
		_, err := Compile(p)
		var unsupported *UnsupportedError
		if !errors.As(err, &unsupported) {
			t.Errorf("%q: %v, want unsupported", p, err)
		}
	}
}

func TestWholeAndCache(t *testing.T) {
	p, err := CompileWhole("a|ab")
	if err != nil || !p.Matches([]byte("ab")) || p.Matches([]byte("abc")) {
		t.Error("whole match", err)
	}
	var c Cache
	for range 2 {
		if p, err := c.Get([]byte("o(b)")); err != nil || p.Groups() != 1 || string(p.Replace(nil, []byte("foob"), []byte("$1"))) != "fo$1" {
			t.Error("cache", err)
		}
		if _, err := c.Get([]byte("(")); err == nil {
			t.Error("cache keeps errors")
		}
	}
}

// Both ways of looking for matches find the same.
func sameMatches(t *testing.T, pattern, text string) {
	p, err := Compile(pattern)
	if err != nil || !p.suits([]byte(text)) {
		return
	}
	want := p.re.FindSubmatchIndex([]byte(text))
	if got := p.First(nil, []byte(text)); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q in %q: %v, and regexp finds %v", pattern, text, got, want)
	}
	if p.rooted {
		return
	}
	var short, long []string
	p.Each([]byte(text), func(m []int) bool { short = append(short, fmt.Sprint(m)); return true })
	p.eachOfLong([]byte(text), func(m []int) bool { long = append(long, fmt.Sprint(m)); return true })
	if fmt.Sprint(short) != fmt.Sprint(long) {
		t.Errorf("%q in %q: %v and %v", pattern, text, short, long)
	}
}

func TestMachineFindsWhatRegexpFinds(t *testing.T) {
	for _, pattern := range []string{`a*?b`, `(a+)(b+)?`, `(?i)Ab|c`, `x*`, `(|a)+`, `(a|b)*c|d`, `[^a]+$`, `(&|^)id=([^&]*)`, `\Bb`, `(?m)^b`, `é+`, `.`} {
		for _, text := range []string{"", "aab", "xaabbcx", "é é", "b\nb\n", "q=1&id=22&z", "\xff\xfea"} {
			sameMatches(t, pattern, text)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{`a(b|c)*`, `[a[b]]`, `\Q(`, `(?ix: a)`, `\p{Lu}{2,3}?`} {
		f.Add(s, "text")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		sameMatches(t, pattern, text)
		if p, err := Compile(pattern); err == nil {
			p.Replace(nil, []byte(text), []byte("x"))
			p.Split([]byte(text), 0, func([]byte) {})
		}
	})
}
