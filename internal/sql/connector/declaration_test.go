package connector

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	d := Declaration{Required: []string{"path"}, Optional: []string{"format", "csv.*"}}
	for _, c := range []struct {
		options map[string]string
		want    string // a part of the error; empty: none
	}{
		{map[string]string{"connector": "x", "path": "p"}, ""},
		{map[string]string{"path": "p", "csv.quote": "'"}, ""},
		{map[string]string{"path": "p", "sink.parallelism": "2"}, ""},
		{map[string]string{"format": "csv"}, "Missing required options are:\n\npath"},
		{map[string]string{"path": "p", "formt": "csv"}, "Did you mean 'format' for 'formt'?"},
		{map[string]string{"path": "p", "zzzzz": "csv"}, "Unsupported options:\n\nzzzzz"},
	} {
		err := d.Check("x", c.options)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: got %v, want %q", c.options, err, c.want)
		}
	}
}
