package memory

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		text string
		want Size
		err  string
	}{
		{"0", 0, ""}, {"1024", 1024, ""}, {" 64 kb ", 64 * KB, ""}, {"1024m", GB, ""}, {"1G", GB, ""},
		{"3 tebibytes", 3 * TB, ""}, {"7B", 7, ""}, {"9223372036854775807", MaxSize, ""},
		{"", 0, "argument is an empty- or whitespace-only string"},
		{"m", 0, "text does not start with a number"},
		{"-1m", 0, "text does not start with a number"},
		{"1.5g", 0, "Memory size unit '.5g' does not match any of the recognized units: (b | bytes) /"},
		{"1 mib", 0, "Memory size unit 'mib' does not match"},
		{"9223372036854775808", 0, "cannot be re represented as 64bit number (numeric overflow)."},
		{"9000000 tb", 0, "cannot be re represented as 64bit number of bytes (numeric overflow)."},
	}
	for _, tt := range tests {
		got, err := Parse(tt.text)
		if tt.err == "" && (err != nil || got != tt.want) {
			t.Errorf("Parse(%q) = %d, %v; want %d", tt.text, got, err, tt.want)
		}
		if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("Parse(%q): error %v; want %q", tt.text, err, tt.err)
		}
	}
}

func TestForms(t *testing.T) {
	tests := []struct {
		size        Size
		text, human string
	}{
		{0, "0 bytes", "0 bytes"},
		{1000, "1000 bytes", "1000 bytes"},
		{KB, "1 kb", "1024 bytes"},
		{128 * MB, "128 mb", "128.000mb (134217728 bytes)"},
		{GB, "1 gb", "1024.000mb (1073741824 bytes)"},
		{MB + MB/16, "1088 kb", "1.063mb (1114112 bytes)"},
		{MaxSize, "9223372036854775807 bytes", "8388608.000tb (9223372036854775807 bytes)"},
	}
	for _, tt := range tests {
		if got := tt.size.String(); got != tt.text {
			t.Errorf("%d: String %q, want %q", int64(tt.size), got, tt.text)
		}
		if got := tt.size.Human(); got != tt.human {
			t.Errorf("%d: Human %q, want %q", int64(tt.size), got, tt.human)
		}
	}
}

func TestTimesIsExactInDecimal(t *testing.T) {
	if got := (1280 * MB).Times(float64(float32(0.1))); got != 134217730 {
		t.Errorf("1280 mb times 0.1f = %d", got)
	}
	if got := MaxSize.Times(2); got != MaxSize {
		t.Errorf("overflow gave %d", got)
	}
}

func TestJavaNumbers(t *testing.T) {
	for want, v := range map[string]float64{"0.0": 0, "1.5": 1.5, "1.0E-4": 1e-4, "1.0E7": 1e7, "-2.0": -2, "123456.0": 123456} {
		if got := javaDouble(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"1024m", "64 kb", "1.5g", "", "9223372036854775808", "1 tebibytes", "\u00a01m"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Parse(text)
		if err != nil {
			return
		}
		if n < 0 {
			t.Fatalf("Parse(%q) is negative: %d", text, n)
		}
		again, err := Parse(n.String())
		if err != nil || again != n {
			t.Fatalf("Parse(%q) = %d, but its form %q reads as %d, %v", text, n, n.String(), again, err)
		}
		if n.Human() == "" {
			t.Fatal("no human form")
		}
	})
}
