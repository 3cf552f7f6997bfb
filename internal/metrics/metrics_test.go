package metrics_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/metrics"
	"github.com/weirstream/weir/internal/status"
)

// Texts as a genuine Flink wrote them, or as Java documents them.
func TestDoublesAreWrittenAsJavaDoes(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0.0", 470.7: "470.7", 46724312: "4.6724312E7", 1e7: "1.0E7", 9999999: "9999999.0", 0.001: "0.001", 0.0001: "1.0E-4",
		0.015217391304347827: "0.015217391304347827", -9223372036854775808: "-9.223372036854776E18", 1e21: "1.0E21", -3: "-3.0",
		math.Inf(1): "Infinity", math.Inf(-1): "-Infinity", 1.5e-10: "1.5E-10",
	} {
		if got := metrics.FormatDouble(f); got != want {
			t.Errorf("%v is written %s, want %s", f, got, want)
		}
	}
	if got := metrics.FormatDouble(math.NaN()); got != "NaN" {
		t.Errorf("NaN is written %s", got)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		value  metrics.Value
		text   string
		number float64
		is     bool
		gauge  float64
	}{
		{metrics.Whole(-3), "-3", -3, true, -3},
		{metrics.Number(1.05), "1.05", 1.05, true, 1.05},
		{metrics.Single(1.0 / 6), "0.16666667", float64(float32(1.0 / 6)), true, float64(float32(1.0 / 6))},
		{metrics.Truth(true), "true", 0, false, 1},
		{metrics.Truth(false), "false", 0, false, 0},
		{metrics.Text("n/a"), "n/a", 0, false, 0},
	} {
		f, is := c.value.Float()
		if c.value.String() != c.text || f != c.number || is != c.is || c.value.Gauge() != c.gauge {
			t.Errorf("%q: number %v %v, gauge %v; want %q %v %v %v", c.value, f, is, c.value.Gauge(), c.text, c.number, c.is, c.gauge)
		}
	}
}

func TestOperatorNames(t *testing.T) {
	for name, want := range map[string]string{
		"Source: datagen[1]": "Source__datagen[1]", "snk[6]: Writer": "snk[6]__Writer", "a.b,c d": "a_b_c_d", `slow <map> & "quoted"`: `slow_<map>_&_"quoted"`,
	} {
		if got := metrics.OperatorName(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

func TestRatesOverAMinute(t *testing.T) {
	at := time.Unix(1000, 0)
	h := metrics.NewHistory(at, 2)
	if h.PerSecond(0) != 0 {
		t.Error("a rate before the first reading")
	}
	h.Read(at.Add(time.Millisecond), []int64{1, 0})
	if h.PerSecond(0) != 0 {
		t.Error("a rate after a moment")
	}
	total := int64(0)
	for second := 1; second <= 600; second++ {
		switch {
		case second <= 300:
			total += 100
		case second <= 400:
			total += 7
		}
		h.Read(at.Add(time.Duration(second)*time.Second), []int64{total, 0})
		want, exact := 100.0, second <= 300
		if second > 365 && second <= 400 {
			want, exact = 7, true
		} else if second > 465 {
			want, exact = 0, true
		}
		if got := h.PerSecond(0); exact && math.Abs(got-want) > 1e-9 {
			t.Fatalf("after %d seconds: %v a second, want %v", second, got, want)
		}
	}
	h.Read(at, []int64{1 << 40, 0})
	if h.PerSecond(0) != 0 || h.PerSecond(1) != 0 {
		t.Error("a clock that went back was followed")
	}
}

func TestSamplesAreDescribed(t *testing.T) {
	var s metrics.Sample
	if s.Describe() != (status.Distribution{}) {
		t.Error("an empty sample has statistics")
	}
	for range 100 {
		s.Take(1000) // forgotten
	}
	for i := range int64(60) {
		s.Take(60 - i)
	}
	d := s.Describe()
	if d.Values != 60 || d.Min != 1 || d.Max != 60 || d.Mean != 30.5 || d.Median != 30.5 || d.P999 != 60 || math.Abs(d.P75-45.75) > 1e-9 || math.Abs(d.Deviation-17.464) > 1e-3 {
		t.Errorf("%+v", d)
	}
}

func TestFlat(t *testing.T) {
	all := metrics.Flat([]metrics.Metric{{Name: "a", Value: metrics.Whole(1)}, {Name: "h", Value: metrics.Spread(&status.Distribution{Values: 1, Max: 4, P99: 4})}})
	names := []string{}
	for _, m := range all {
		names = append(names, m.Name+"="+m.Value.String())
	}
	if want := "a=1 h_min=0 h_max=4 h_mean=0.0 h_median=0.0 h_stddev=0.0 h_p75=0.0 h_p90=0.0 h_p95=0.0 h_p98=0.0 h_p99=4.0 h_p999=0.0"; strings.Join(names, " ") != want {
		t.Errorf("got %v, want %s", names, want)
	}
}

// What is not known is not told.
func TestUnknownLimitsAreAbsent(t *testing.T) {
	names := func(f *status.ProcessFigures) (all []string) {
		for _, m := range metrics.OfProcess(f) {
			all = append(all, m.Name)
		}
		return all
	}
	few := names(&status.ProcessFigures{})
	for _, name := range []string{"Status.JVM.Memory.Heap.Max", "Status.Flink.Memory.Managed.Total", "Status.Shuffle.Netty.TotalMemory", "Status.JVM.FileDescriptor.Open"} {
		if slices.Contains(few, name) {
			t.Errorf("%s is there though it is not known", name)
		}
	}
	full := names(&status.ProcessFigures{HeapMax: 1, ManagedTotal: 1, BuffersTotal: 2, BuffersTaken: 5, DescriptorsOpen: 1})
	for _, name := range []string{"Status.JVM.Memory.Heap.Max", "Status.Flink.Memory.Managed.Total", "Status.Shuffle.Netty.TotalMemory", "Status.JVM.FileDescriptor.Open"} {
		if !slices.Contains(full, name) {
			t.Errorf("%s is not there", name)
		}
	}
}

func BenchmarkHistory(b *testing.B) {
	at := time.Unix(0, 0)
	h := metrics.NewHistory(at, 20)
	totals := make([]int64, 20)
	b.ReportAllocs()
	for i := range b.N {
		totals[3] += 5
		h.Read(at.Add(time.Duration(i)*time.Second), totals)
	}
}

// What is known of the systems at the ends of a job has the names of Flink's connectors.
func TestSourcesAndSinksHaveFlinksNames(t *testing.T) {
	source := status.OperatorFigures{Source: true, SourceIdle: 2 * time.Second, EmitLag: new(3 * time.Second), Pending: new(int64(7)), Drift: new(time.Minute)}
	sink := status.OperatorFigures{Sent: &status.SentFigures{Records: 5, Bytes: 50, Errors: 1, Last: time.Millisecond}}
	for name, o := range map[string]*status.OperatorFigures{"source": &source, "sink": &sink} {
		got := map[string]string{}
		for _, m := range metrics.OfOperator(o) {
			got[m.Name] = m.Value.String()
		}
		want := map[string]map[string]string{
			"source": {"sourceIdleTime": "2000", "currentEmitEventTimeLag": "3000", "watermarkLag": "-1", "pendingRecords": "7", "watermarkAlignmentDrift": "60000"},
			"sink":   {"numRecordsSend": "5", "numBytesSend": "50", "numRecordsSendErrors": "1", "currentSendTime": "1"},
		}[name]
		for metric, text := range want {
			if got[metric] != text {
				t.Errorf("%s: %s is %q, want %q", name, metric, got[metric], text)
			}
		}
	}
}
