package text

import (
	"fmt"
	"strings"
	"testing"
)

func b(s string) []byte { return []byte(s) }

// maybe writes an answer that may be none.
func maybe[T ~string | ~[]byte | ~int64](v T, ok bool) string {
	if !ok {
		return "none"
	}
	switch v := any(v).(type) {
	case int64:
		return fmt.Sprint(v)
	case string:
		return v
	}
	return string(any(v).([]byte))
}

func TestFunctions(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"substring", string(Substring(b("hello"), 2)), "ello"},
		{"substring 0", maybe(SubstringFor(b("hello"), 0, 2)), "he"},
		{"substring from the end", maybe(SubstringFor(b("a😀b"), -2, 1)), "😀"},
		{"substring before the beginning", maybe(SubstringFor(b("hello"), -10, 2)), ""},
		{"substring of negative length", maybe(SubstringFor(b("hello"), 1, -1)), "none"},
		{"left", string(Left(b("日本語"), 2)), "日本"},
		{"right", string(Right(b("日本語"), 2)), "本語"},
		{"right of more", string(Right(b("ab"), 1<<40)), "ab"},
		{"overlay", string(Overlay(nil, b("abcdef"), b("XX"), 3, 2)), "abXXef"},
		{"overlay beyond", string(Overlay(nil, b("abcdef"), b("XX"), 3, 100)), "abXX"},
		{"overlay outside", string(Overlay(nil, b("abcdef"), b("XX"), -1, 2)), "abcdef"},
		{"overlay half a pair", string(Overlay(nil, b("a😀b"), b("x"), 2, 1)), "ax?b"},
		{"pad left", maybe(Pad(nil, b("hi"), 5, b("xy"), true)), "xyxhi"},
		{"pad right", maybe(Pad(nil, b("hi"), 5, b("xy"), false)), "hixyx"},
		{"pad cuts", maybe(Pad(nil, b("hi"), 1, b("x"), true)), "h"},
		{"pad with nothing", maybe(Pad(nil, b("hi"), 5, nil, true)), "none"},
		{"trim", string(Trim(b("xyaxb yx"), b("xy"), true, true)), "axb "},
		{"trim nothing", string(Trim(b(" a"), b(""), true, true)), " a"},
		{"upper", string(Upper(nil, b("aßéǆﬁ"))), "ASSÉǄFI"},
		{"lower", string(Lower(nil, b("ΑΣ ΑΣΑİ"))), "ας ασαi̇"},
		{"initcap", string(InitCap(nil, b("o'neil 1ABC éa"))), "O'Neil 1abc éA"},
		{"reverse", string(Reverse(nil, b("a😀b"))), "b😀a"},
		{"replace", string(Replace(nil, b("abc"), b(""), b("x"))), "xaxbxcx"},
		{"translate", string(Translate(nil, b("hello"), b("elo"), b("i"))), "hi"},
		{"split index", maybe(SplitIndex(b("a||b"), b("||"), 1)), "b"},
		{"split index of nothing", maybe(SplitIndex(nil, b(","), 0)), "none"},
		{"url", string(URLEncode(nil, b("a b+~é"))), "a+b%2B%7E%C3%A9"},
		{"url back", maybe(URLDecode(nil, b("a+b%20c%C3%A9"))), "a b cé"},
		{"url bad", maybe(URLDecode(nil, b("%z"))), "none"},
		{"address", maybe(ParseURL(b("http://u:p@h.com:80/p?q=1#r"), b("AUTHORITY"))), "u:p@h.com:80"},
		{"address host", maybe(ParseURL(b("http://u:p@h.com:80/p?q=1#r"), b("HOST"))), "h.com"},
		{"address file", maybe(ParseURL(b("http://h.com/p?q=1#r"), b("FILE"))), "/p?q=1"},
		{"address none", maybe(ParseURL(b("nope://h.com"), b("HOST"))), "none"},
		{"address key", maybe(ParseURLKey(b("http://h/?a=1&b=2"), b("QUERY"), b("b"))), "2"},
		{"inet", maybe(InetAton(b("127.1"))), "2130706433"},
		{"inet bad", maybe(InetAton(b("1.2.3.4.5"))), "none"},
		{"inet beyond a byte", maybe(InetAton(b("10.300"))), "none"},
		{"inet back", maybe(InetNtoa(nil, 2130706433)), "127.0.0.1"},
		{"unhex", maybe(Unhex(nil, b("F41"))), "\x00A"},
		{"unhex no digit", maybe(Unhex(nil, b("x41"))), "none"},
		{"chr", string(Chr(nil, 353)), "a"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestPositions(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want int64
	}{
		{"position", Position(b("b"), b("a😀b"), 1), 3},
		{"position from", Position(b("b"), b("abcb"), 3), 4},
		{"position beyond", Position(b("b"), b("abcb"), 10), 0},
		{"position of nothing", Position(b(""), b("abc"), 2), 1},
		{"instr", Instr(b("Corporate Floor"), b("or"), 3, 2), 14},
		{"instr back", Instr(b("Corporate Floor"), b("or"), -3, 2), 2},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct{ s, sep, want string }{
		{",a,", ",", "|a|"}, {"abc", "", "a|b|c"}, {"", "", ""}, {"a😀", "", "a|?|?"}, {"", ",", ""},
	} {
		var parts []string
		Split(b(c.s), b(c.sep), func(p []byte) { parts = append(parts, string(p)) })
		if got := strings.Join(parts, "|"); got != c.want {
			t.Errorf("split %q by %q: %q, want %q", c.s, c.sep, got, c.want)
		}
	}
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		s, pattern, escape string
		want               bool
	}{
		{"abc", "abc", "", true}, {"abc", "a%", "", true}, {"abc", "%c", "", true}, {"abc", "%b%", "", true},
		{"abc", "_b_", "", true}, {"abc", "a_", "", false}, {"", "%", "", true}, {"", "", "", true}, {"a", "", "", false},
		{"ab", "a%b%c", "", false}, {"aXbXc", "a%b%c", "", true}, {"abab", "%ab", "", true}, {"a", "a%a", "", false},
		{"😀x", "_x", "", true}, {"abc", "%_c", "", true}, {"c", "%_c", "", false}, {"abcd", "%_c_%", "", true},
		{"a_c", "a!_c", "!", true}, {"abc", "a!_c", "!", false}, {"a%b", "a%%b", "%", true}, {"aab", "%a_", "", true},
		{"xayaz", "%a__%", "", true}, {"abc", "%%", "", true}, {"ab", "__%", "", true}, {"a", "__%", "", false},
	} {
		l, err := CompileLike(c.pattern, c.escape)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Match(b(c.s)); got != c.want {
			t.Errorf("%q LIKE %q: %v", c.s, c.pattern, got)
		}
	}
	for _, c := range [][2]string{{"a!c", "!"}, {"abc!", "!"}, {"abc", "ab"}, {"a_b", "_"}} {
		if _, err := CompileLike(c[0], c[1]); err == nil {
			t.Errorf("LIKE %q ESCAPE %q is not refused", c[0], c[1])
		}
	}
}

func TestSimilar(t *testing.T) {
	for _, c := range [][3]string{
		{"%(b|d)%", "", "(?s:.*)(b|d)(?s:.*)"}, {"a!%c", "!", "a%c"}, {"$_", "", `\$.`}, {"[[:DIGIT:]a-z]", "", `[\da-z]`},
	} {
		if got, err := SimilarToRegex(c[0], c[1]); err != nil || got != c[2] {
			t.Errorf("%q: %q %v, want %q", c[0], got, err, c[2])
		}
	}
	for _, p := range []string{"[a", "a]", "[a%]"} {
		if _, err := SimilarToRegex(p, ""); err == nil {
			t.Errorf("%q is not refused", p)
		}
	}
}

func TestCharsets(t *testing.T) {
	for set, want := range map[string]string{"UTF-8": "aé", "US-ASCII": "a?", "ISO-8859-1": "a\xe9", "UTF-16": "\xfe\xff\x00a\x00\xe9", "utf-16le": "a\x00\xe9\x00"} {
		got, err := Encode(nil, b("aé"), b(set))
		if err != nil || string(got) != want {
			t.Errorf("encode in %s: %q %v", set, got, err)
		}
		if set == "US-ASCII" {
			continue
		}
		if back, err := Decode(nil, got, b(set)); err != nil || string(back) != "aé" {
			t.Errorf("decode in %s: %q %v", set, back, err)
		}
	}
	if _, err := Encode(nil, nil, b("NOPE")); err == nil {
		t.Error("an unknown set is not refused")
	}
	if got, _ := Decode(nil, b("a\xff\xff"), b("UTF-8")); string(got) != "a\uFFFD\uFFFD" {
		t.Errorf("bad bytes: %q", got)
	}
}

func TestPredicates(t *testing.T) {
	for s, want := range map[string]bool{"1.5": true, "-1.5e3": true, " 1": true, "1_0": false, "": false, ".": false, "1f": true, "NaN": true, "nan": false, "0x1p3": true, "0x1": false, "1e999": true} {
		if IsDecimal(b(s)) != want {
			t.Errorf("IsDecimal(%q) is %v", s, !want)
		}
	}
	if !IsAlpha(b("é")) || IsAlpha(b("a1")) || IsAlpha(nil) || !IsDigit(b("１")) || IsDigit(b("")) || ASCII(b("日")) != -26 {
		t.Error("predicates")
	}
}

func TestFormat(t *testing.T) {
	num := func(i int64) Arg { return Arg{Kind: IntArg, Int: i, Text: b(fmt.Sprint(i)), Bits: 32} }
	for _, c := range []struct {
		format string
		args   []Arg
		want   string
	}{
		{"%05d|%,d", []Arg{num(42), num(1234567)}, "00042|1,234,567"},
		{"%x %o", []Arg{num(255), num(-1)}, "ff 37777777777"},
		{"%-4s|%4s", []Arg{num(1), num(2)}, "1   |   2"},
		{"%2$s %1$s %<s %s", []Arg{num(1), num(2)}, "2 1 1 1"},
		{"%e %.2f", []Arg{{Kind: FloatArg, Float: 12345.678}, {Kind: FloatArg, Float: -1.005}}, "1.234568e+04 -1.00"},
		{"100%% %n", nil, "100% \n"},
		{"%s %b", []Arg{{}, {}}, "null false"},
		{"%d", []Arg{{Kind: TextArg}}, "none"},
		{"%d", nil, "none"},
		{"%(d %+d", []Arg{num(-5), num(5)}, "(5) +5"},
	} {
		f, ok := ParseFormat(c.format)
		if !ok {
			t.Fatalf("%q is not accepted", c.format)
		}
		if got := maybe(f.Append(nil, c.args)); got != c.want {
			t.Errorf("%q: %q, want %q", c.format, got, c.want)
		}
	}
	for _, s := range []string{"%", "%q", "%-d", "%.f"} {
		if _, ok := ParseFormat(s); ok {
			t.Errorf("%q is not refused", s)
		}
	}
}

func FuzzFunctions(f *testing.F) {
	f.Add("a😀b", "%_", int64(-2))
	f.Fuzz(func(t *testing.T, s, p string, n int64) {
		n %= 1000
		if l, err := CompileLike(p, "!"); err == nil {
			l.Match(b(s))
		}
		SimilarToRegex(p, "")
		SubstringFor(b(s), n, 3)
		Left(b(s), n)
		Right(b(s), n)
		Overlay(nil, b(s), b(p), n, 2)
		Pad(nil, b(s), n, b(p), n%2 == 0)
		Instr(b(s), b(p), n, 2)
		Translate(nil, b(s), b(p), b("x"))
		ParseURL(b(s), b("HOST"))
		if f, ok := ParseFormat(p); ok {
			f.Append(nil, []Arg{{Kind: IntArg, Int: n}, {Kind: FloatArg, Float: float64(n)}})
		}
	})
}
