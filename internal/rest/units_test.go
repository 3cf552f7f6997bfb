package rest

import (
	"bytes"
	"encoding/json/v2"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/weirstream/weir/internal/testkit/recorded"
)

func TestStatistics(t *testing.T) {
	// As a genuine Flink computed them, see failed-stream-v0-vertex and
	// batch-finished-v0-vertex.
	for _, c := range []struct {
		values []int64
		want   statistics
	}{
		{[]int64{5, 4}, statistics{P25: 4, Min: 4, Average: 4, Median: 4, Max: 5, Sum: 9, P95: 5, P75: 5}},
		{[]int64{2, 15}, statistics{P25: 2, Min: 2, Average: 8, Median: 8, Max: 15, Sum: 17, P95: 15, P75: 15}},
		{[]int64{-1, -1}, statistics{P25: -1, Min: -1, Average: -1, Median: -1, Max: -1, Sum: -2, P95: -1, P75: -1}},
		{[]int64{839}, statistics{P25: 839, Min: 839, Average: 839, Median: 839, Max: 839, Sum: 839, P95: 839, P75: 839}},
		{[]int64{597, 599, 600}, statistics{P25: 597, Min: 597, Average: 598, Median: 599, Max: 600, Sum: 1796, P95: 600, P75: 600}},
	} {
		if got := statisticsOf(slices.Clone(c.values)); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.values, got, c.want)
		}
	}
}

func TestDouble(t *testing.T) {
	for value, want := range map[double]string{0: "0.0", 2: "2.0", 0.5: "0.5", 1e21: "1.0E21", -3: "-3.0"} {
		if text, err := json.Marshal(value); err != nil || string(text) != want {
			t.Errorf("%v: %s, %v", value, text, err)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                     nil,
		"  ":                   nil,
		"a  b\tc\n":            {"a", "b", "c"},
		`--x "a b" 'c "d"' e`:  {"--x", "a b", `c "d"`, "e"},
		`a"b c"d`:              {"ab cd"},
		`""`:                   {""},
		"--glob=/data/**/*.go": {"--glob=/data/**/*.go"},
	} {
		if got, err := words(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := words(`a "b`); err == nil {
		t.Error("an open quote was taken")
	}
}

// TestThrowable compares the head of a serialized error, which describes its
// classes, with that of a genuine one, and finds the texts in the rest.
func TestThrowable(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for _, stack := range []string{"boom\n\tat main.go:7", long} {
		got := throwableOf("Panic", "boom \x00 é 😀", stack).Serialized
		for _, part := range []string{"Panic: boom \xc0\x80 é \xed\xa0\xbd\xed\xb8\x80", "Panic: " + stack, "t\x00\x05Panic"} {
			if !bytes.Contains(got, []byte(part)) {
				t.Errorf("%.40q is not there", part)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(recorded.Material(t, "golden/rest"), "1008-jar-failed-execution-result.http.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Response struct {
			Body struct {
				Result struct {
					Cause struct {
						Serialized []byte `json:"serialized-throwable"`
					} `json:"failure-cause"`
				} `json:"job-execution-result"`
			} `json:"body"`
		} `json:"response"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	genuine := r.Response.Body.Result.Cause.Serialized
	end := bytes.Index(genuine, []byte("Ljava/util/List;xp")) + len("Ljava/util/List;xp")
	if ours := throwableOf("E", "", "").Serialized; !bytes.HasPrefix(ours, genuine[:end]) {
		t.Errorf("the classes are described as\n%q, in the recording\n%q", ours[:min(end, len(ours))], genuine[:end])
	}
}

// What a process printed is its jobs' output, or else its own last words.
func TestStdout(t *testing.T) {
	for _, c := range []struct {
		main  string
		files fstest.MapFS
		want  string
	}{
		{"a.log", fstest.MapFS{"a.out": {Data: []byte("job")}, "a.err": {Data: []byte("panic")}}, "job"},
		{"a.log", fstest.MapFS{"a.err": {Data: []byte("panic")}, ".err": {}}, "panic"},
		{"a.log", fstest.MapFS{"b.err": {}}, "absent"},
		{"", fstest.MapFS{".out": {}, ".err": {}}, "absent"},
	} {
		got := "absent"
		if a, err := (logDir{c.files, c.main}).stdout("absent"); err == nil {
			text, err := io.ReadAll(a.file)
			if err != nil {
				t.Fatal(err)
			}
			got = string(text)
		}
		if got != c.want {
			t.Errorf("%q of %v: %q, want %q", c.main, c.files, got, c.want)
		}
	}
}
