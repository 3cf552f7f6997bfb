package process

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/status"
	"github.com/weirstream/weir/internal/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func TestFiguresAreThereAtOnce(t *testing.T) {
	s := Start()
	defer s.Close()
	f := s.Latest()
	for name, value := range map[string]int64{
		"heap": f.HeapUsed, "committed heap": f.HeapCommitted, "other memory": f.NonHeapUsed, "goroutines": f.Goroutines, "threads": f.Threads,
		"processor time": int64(f.CPU), "limit of files": f.DescriptorsMax,
	} {
		if value <= 0 {
			t.Errorf("%s: %d", name, value)
		}
	}
	if f.HeapUsed > f.HeapCommitted || f.NonHeapUsed > f.NonHeapCommitted {
		t.Errorf("more is used than committed: %+v", f)
	}
	if runtime.GOOS == "linux" && (f.DescriptorsOpen < 3 || f.Program <= 0) {
		t.Errorf("%d files are open, the program takes %d bytes", f.DescriptorsOpen, f.Program)
	}
}

func TestEveryNameIsTheRuntimes(t *testing.T) {
	k := newTaker(time.Unix(0, 0))
	k.take(time.Unix(1, 0))
	for _, s := range k.samples {
		if s.Value.Kind() == 0 {
			t.Errorf("the runtime has no %s", s.Name)
		}
	}
}

func TestOpenFilesAreCounted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system does not say")
	}
	first, err := os.Open(os.DevNull) // with which the runtime may open files of its own
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	before := openDescriptors()
	for range 7 {
		f, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	if after := openDescriptors(); after != before+7 {
		t.Errorf("%d files are open, %d were before 7 more", after, before)
	}
}

func TestRates(t *testing.T) {
	at := time.Unix(100, 0)
	r := newRates(at)
	f := &status.ProcessFigures{CollectionTime: time.Second, CPU: 5 * time.Second}
	r.read(at, f)
	if f.CollectionMillisPerSecond != 0 || f.CPULoad != 0 {
		t.Errorf("at the beginning: %+v", f)
	}
	f = &status.ProcessFigures{CollectionTime: time.Second + 100*time.Millisecond, CPU: 5*time.Second + time.Duration(runtime.NumCPU())*5*time.Second}
	r.read(at.Add(10*time.Second), f)
	if f.CollectionMillisPerSecond != 10 || f.CPULoad != 0.5 {
		t.Errorf("after ten seconds: %+v", f)
	}
}
