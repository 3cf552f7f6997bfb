package jsondoc

import (
	"strings"
	"testing"
)

func TestParseAndAppend(t *testing.T) {
	for text, want := range map[string]string{
		` {"b":[1, 2,  3], "a" : 1.0} x`: `{"a":1.0,"b":[1,2,3]}`,
		`{"a":1,"a":2}`:                  `{"a":2}`,
		`"x\u0041\ud83d\ude00\ud83d\n"`:  `"xA😀?\n"`,
		`1e5`:                            `1E+5`, `-0`: `0`, `-0.0`: `0.0`, `0.00000001`: `1E-8`, `12.5e1`: `125`, `1.25e1`: `12.5`, `12345678901234567890`: `12345678901234567890`,
		`[]`: `[]`, `{}`: `{}`, `null`: `null`, `true `: `true`,
		`{"\ue000":1,"😀":2,"z":3}`: "{\"z\":3,\"😀\":2,\"\ue000\":1}",
	} {
		var d Doc
		if err := d.Parse([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := string(d.Append(nil)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", " ", "{", "abc", "{a:1}", "{'a':1}", "[1,2", "NaN", "01", "1x", "-", "1.", "1e", `"a`, "\"\t\"", `"\q"`, `"\u12"`, "[1,]", `{"a"}`, `{"a":}`, "truex", strings.Repeat("[", 1001)} {
		var d Doc
		if d.Parse([]byte(text)) == nil {
			t.Errorf("%q is not refused", text)
		}
	}
	d := Doc{Strict: true}
	if d.Parse([]byte(`{"a":1,"b":{"a":1}}`)) != nil || d.Parse([]byte(`{"a":1,"a":2}`)) == nil {
		t.Error("keys that are there twice")
	}
}

func TestVariant(t *testing.T) {
	for text, want := range map[string]string{`1e5`: `100000.0`, `1.10`: `1.1`, `1e400`: `Infinity`, `12345678901234567890`: `12345678901234567890`, `{"b":1.0,"a":[2.50]}`: `{"a":[2.5],"b":1}`} {
		var d Doc
		if err := d.Parse([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := string(d.AppendVariant(nil)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

const document = `{"a":1,"b":{"c":"x","d":null},"arr":[1,"two",{"k":true}],"a b":3,"n":null,"e":[]}`

func TestFind(t *testing.T) {
	for path, want := range map[string]string{
		"$.a": "1", "$.b.c": `"x"`, "$.arr[0]": "1", "$.arr[-1]": `{"k":true}`, "$.arr[*]": `[1,"two",{"k":true}]`, "$..k": "[true]", "$.arr[0,1]": `[1,"two"]`,
		"$.arr[1:]": `["two",{"k":true}]`, "$.arr[:-1]": `[1,"two"]`, "$['a']": "1", `$["a b"]`: "3", "$.arr.length()": "3", "a": "1", "$.arr[*].k": "[true]", "$.e[*]": "[]",
		"$.zzz": "error", "$.n": "error", "$.b.d": "error", "$.a.b": "error", "$[0]": "error", "$.arr[9]": "error", "strict $.zzz": "error", "$..zzz": "[]", "$.arr.k": "error",
		"lax $.zzz": "nothing", "lax $.zzz.y": "nothing", "lax $.a[0]": "nothing", "lax $.n": "nothing", "LAX $.a": "1", "lax $.arr.k": "nothing",
		"$.arr.sum()": "1.0", "$.b.keys()": `["c","d"]`, "$['a','n']": "[1,null]",
	} {
		p, err := CompilePath(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var d Doc
		if err := d.Parse([]byte(document)); err != nil {
			t.Fatal(err)
		}
		v, found, err := d.Find(p)
		got := "nothing"
		if err != nil {
			got = "error"
		} else if found {
			got = string(v.Append(nil))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for _, path := range []string{"", "$.", "$.a b", "$[", "$[a]", "$['a", "$.arr[?(@.k)]", "$.a.nope()", "$a", "$[1:2:3]", "$.arr.length().x"} {
		if _, err := CompilePath(path); err == nil {
			t.Errorf("%q is not refused", path)
		}
	}
}

func TestQuote(t *testing.T) {
	if got := string(AppendQuoted(nil, []byte("a\"\\/\n\x01日"))); got != `"a\"\\/\n\u0001日"` {
		t.Error(got)
	}
	if got := string(AppendQuotedASCII(nil, []byte("a/é日😀"))); got != `"a\/\u00e9\u65e5\u1f600\ude00"` {
		t.Error(got)
	}
	var d Doc
	for text, want := range map[string]string{`"a\u0041"`: "aA", `"abc`: "none", `abc`: "none", `"a\qb"`: "none", `"a" `: "none", `"`: "none"} {
		got := "none"
		if b, ok := d.Unquote(nil, []byte(text)); ok {
			got = string(b)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestReadingAgainAllocatesNothing(t *testing.T) {
	var d Doc
	text := []byte(document)
	d.Parse(text)
	dst := d.Append(nil)
	if n := testing.AllocsPerRun(100, func() { d.Parse(text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	_ = dst
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(document), "$.arr[*].k")
	f.Add([]byte(`[1e5,"\ud83d"]`), "lax $..[0:2]")
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		var d Doc
		if d.Parse(text) != nil {
			return
		}
		written := d.Append(nil)
		var again Doc
		if err := again.Parse(written); err != nil {
			t.Fatalf("%q is written as %q: %v", text, written, err)
		}
		if twice := again.Append(nil); string(twice) != string(written) {
			t.Fatalf("%q and %q", written, twice)
		}
		if p, err := CompilePath(path); err == nil {
			if v, found, _ := d.Find(p); found {
				v.Append(nil)
			}
		}
	})
}
