package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	good := map[string]time.Duration{
		"10 s": 10 * time.Second, "500ms": 500 * time.Millisecond, "1 min": time.Minute, "250": 250 * time.Millisecond, "0": 0,
		"2 D": 48 * time.Hour, "3 hours": 3 * time.Hour, "7 µs": 7 * time.Microsecond, "7us": 7 * time.Microsecond, "9 nanos": 9,
		"1m": time.Minute, "1m30s": 90 * time.Second, "1.5s": 1500 * time.Millisecond, "PT10S": 10 * time.Second, "p1dt2h": 26 * time.Hour, "P2D": 48 * time.Hour, "PT0.5S": 500 * time.Millisecond,
	}
	for text, want := range good {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "s", "10 parsecs", "-1 s", "-5", "1,5 s", "P", "PT", "P1Y", "PT-1S", "1000000 d", "99999999999999999999", "10 s 20", "P106752D", "P106751DT24H"} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
	for d, want := range map[time.Duration]string{0: "0 ms", time.Minute: "1 min", 1500 * time.Millisecond: "1500 ms", 36 * time.Hour: "36 h", 48 * time.Hour: "2 d", 1001: "1001 ns"} {
		if got := formatDuration(d); got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
	}
}

func TestCollections(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "a": {"a"}, " a ; b;;c ": {"a", "b", "c"}, `"a;b";'c''d'`: {"a;b", "c'd"}, `x "y"; z`: {`x "y"`, "z"},
	} {
		if got, err := parseList(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("list %q: %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]map[string]string{
		"": {}, "a:1, b : 2": {"a": "1", "b": "2"}, `'a:x,y',u:http://h:1`: {"a": "x,y", "u": "http://h:1"}, "a:": {"a": ""},
	} {
		if got, err := parseMap(text); err != nil || !maps.Equal(got, want) {
			t.Errorf("map %q: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{`"a`, `"a" b`, `'a`} {
		if _, err := parseList(text); err == nil {
			t.Errorf("list %q was accepted", text)
		}
	}
	for _, text := range []string{"a", ":1", "a:1,a:2", `"a:1`} {
		if _, err := parseMap(text); err == nil {
			t.Errorf("map %q was accepted", text)
		}
	}
	if got, err := paths.parse("/a,/b|/c"); err != nil || !slices.Equal(got, []string{"/a", "/b", "/c"}) {
		t.Errorf("paths %q, %v", got, err)
	}
}

func TestPorts(t *testing.T) {
	got, err := parsePorts("8081, 50100-50200,0")
	if err != nil || !slices.Equal(got, []PortRange{{8081, 8081}, {50100, 50200}, {0, 0}}) {
		t.Errorf("%v, %v", got, err)
	}
	if text := formatPorts(got); text != "8081,50100-50200,0" {
		t.Errorf("form %q", text)
	}
	for _, text := range []string{"", "x", "1-", "5-3", "65536", "-1", "1,,2"} {
		if got, err := parsePorts(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestYAML(t *testing.T) {
	const file = `
# nested and flat keys mean the same
taskmanager:
  numberOfTaskSlots: 4
  memory.process.size: 2g
rest.port: "9081"
io.tmp.dirs: [/a, /b]
io:
pipeline:
  global-job-parameters:
    colour: red
    size: *nothing
`
	if _, problems := parseYAML([]byte(file), "f"); len(problems) != 1 || problems[0].Fix == "" || !strings.Contains(problems[0].What, "unknown anchor") {
		t.Errorf("an unknown anchor gave %v", problems)
	}
	settings, problems := parseYAML([]byte(strings.ReplaceAll(file, "*nothing", "&s L\n  name: *s")), "f")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := map[string]setting{
		"taskmanager.numberOfTaskSlots":         {"4", "f:4"},
		"taskmanager.memory.process.size":       {"2g", "f:5"},
		"rest.port":                             {"9081", "f:6"},
		"io.tmp.dirs":                           {"/a;/b", "f:7"},
		"pipeline.global-job-parameters.colour": {"red", "f:11"},
		"pipeline.global-job-parameters.size":   {"L", "f:12"},
		"pipeline.name":                         {"L", "f:13"},
	}
	if !reflect.DeepEqual(settings, want) {
		t.Errorf("got  %v\nwant %v", settings, want)
	}
}

func TestYAMLThatIsRefused(t *testing.T) {
	tests := []struct{ name, file, origin, what string }{
		{"syntax", "a: b\nc: d: e\n", "f:2", "not valid YAML: mapping values are not allowed in this context"},
		{"tab", "a:\n\tb: c\n", "f:2", "not valid YAML"},
		{"twice", "rest.port: 1\nrest:\n  port: 2\n", "f:3", "set twice, first in line 1"},
		{"no mapping", "- a\n- b\n", "f:1", "the file holds no settings"},
		{"two documents", "a: b\n---\nc: d\n", "f:2", "a second document begins"},
		{"list of lists", "a: [[b]]\n", "f:1", "a list holds another list"},
		{"list of deep maps", "a: [{b: {c: d}}]\n", "f:1", "flat maps"},
		{"merge", "x: &x {a: b}\ny:\n  <<: *x\n", "f:3", "a key is not plain text"},
		{"deep", strings.Repeat("{a: ", 40) + "b" + strings.Repeat("}", 40), "f:1", "nested more than 32 levels deep"},
		{"an anchor inside itself", "a: &a {b: *a}\n", "f:1", "nested more than 32 levels deep"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := parseYAML([]byte(tt.file), "f")
			if len(problems) != 1 || problems[0].Origin != tt.origin || !strings.Contains(problems[0].What, tt.what) {
				t.Errorf("got %v, want %s: %s", problems, tt.origin, tt.what)
			}
		})
	}
}

// TestYAMLBomb has nine settings in each of nine levels of aliases, which
// would be 387 million settings.
func TestYAMLBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("l0: &l0 {a: x}\n")
	for level := 1; level < 10; level++ {
		b.WriteString("l" + string(rune('0'+level)) + ": &l" + string(rune('0'+level)) + " {")
		for i := range 9 {
			b.WriteString(string(rune('a'+i)) + ": *l" + string(rune('0'+level-1)) + ", ")
		}
		b.WriteString("}\n")
	}
	settings, problems := parseYAML([]byte(b.String()), "f")
	if len(settings) > maxYAMLSettings || len(problems) != 1 || !strings.Contains(problems[0].What, "more than 10000 settings") {
		t.Errorf("%d settings, %v", len(settings), problems)
	}
}

func FuzzYAML(f *testing.F) {
	for _, seed := range []string{string(defaultFile), "a: b", "a: &x [b, {c: d}]\ne: *x", "a: &a {b: *a}", "- a", "a: |\n  b\n", "? a\n: b", "\xff", "a: !!binary x", "---\n...\n---"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		settings, problems := parseYAML([]byte(content), "f")
		if len(settings) > maxYAMLSettings {
			t.Fatalf("%d settings", len(settings))
		}
		for _, p := range problems {
			if p.What == "" || !strings.HasPrefix(p.Origin, "f") {
				t.Fatalf("poor problem %+v", p)
			}
		}
	})
}

func FuzzDuration(f *testing.F) {
	for _, seed := range []string{"10 s", "PT1M", "1h2m", "9223372036854775807 ns", "-1", "1e3s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseDuration(text)
		if err != nil {
			return
		}
		if d < 0 {
			t.Fatalf("%q is negative: %v", text, d)
		}
		if again, err := parseDuration(formatDuration(d)); err != nil || again != d {
			t.Fatalf("%q = %v, written %q, read %v, %v", text, d, formatDuration(d), again, err)
		}
	})
}

func FuzzCollections(f *testing.F) {
	for _, seed := range []string{"a;b", `"a;b";c`, "a:1,b:2", `'a:x,y'`, `""""`, "8081,1-2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if l, err := parseList(text); err == nil {
			if again, err := parseList(formatList(l)); err != nil || !slices.Equal(again, l) {
				t.Fatalf("list %q = %q, written %q, read %q, %v", text, l, formatList(l), again, err)
			}
		}
		if m, err := parseMap(text); err == nil {
			if again, err := parseMap(formatMap(m)); err != nil || !maps.Equal(again, m) {
				t.Fatalf("map %q = %q, written %q, read %q, %v", text, m, formatMap(m), again, err)
			}
		}
		if p, err := parsePorts(text); err == nil {
			if again, err := parsePorts(formatPorts(p)); err != nil || !slices.Equal(again, p) {
				t.Fatalf("ports %q = %v, written %q, read %v, %v", text, p, formatPorts(p), again, err)
			}
		}
	})
}

func FuzzSettings(f *testing.F) {
	f.Add("rest.port: 1\n# x\nno colon", "rest.port=2")
	f.Add(": x\nweir.user.a: 'b'", "=")
	f.Fuzz(func(t *testing.T, properties, dynamic string) {
		settings, problems := readProperties(properties)
		layer, more := readDynamic([]string{dynamic})
		overlay(settings, layer)
		c, err := build(settings, append(problems, more...))
		if (c == nil) == (err == nil) {
			t.Fatalf("config %v with error %v", c, err)
		}
		if c == nil {
			return
		}
		if again, err := New(c.Map()); err != nil || !reflect.DeepEqual(again.values, c.values) {
			t.Fatalf("the settings of a valid configuration read differently: %v", err)
		}
	})
}
