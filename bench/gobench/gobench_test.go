package gobench

import (
	"reflect"
	"strings"
	"testing"

	"github.com/weirstream/weir/bench/figure"
)

const output = `goos: linux
cpu: Some Processor
BenchmarkChain-2           	  119924	       146.5 Mrec/cpu-s	        15.93 ns/record
BenchmarkNetwork/tcp/channels=8-2 	     100	  1200 MB/cpu-s
BenchmarkChain-2           	  119924	       140 Mrec/cpu-s	        16 ns/record
PASS
`

func TestReadGivesEveryMetricOfEveryRun(t *testing.T) {
	got := figure.Values{}
	if err := Read(strings.NewReader(output), got); err != nil {
		t.Fatal(err)
	}
	want := figure.Values{
		"Chain Mrec/cpu-s":                {146.5, 140},
		"Chain ns/record":                 {15.93, 16},
		"Network/tcp/channels=8 MB/cpu-s": {1200},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := Read(strings.NewReader("BenchmarkX-2 1 many ns/op\n"), got); err == nil {
		t.Error("a metric that is no number was read")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(output)
	f.Add("BenchmarkX-2 1 many ns/op\n")
	f.Fuzz(func(t *testing.T, text string) {
		values := figure.Values{}
		if err := Read(strings.NewReader(text), values); err == nil && len(values) > 0 && !strings.Contains(text, "Benchmark") {
			t.Errorf("%q gave %v", text, values)
		}
	})
}
