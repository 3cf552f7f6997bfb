package files_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/weirstream/weir/connector/files"
	"github.com/weirstream/weir/format/csv"
	"github.com/weirstream/weir/format/json"
	"github.com/weirstream/weir/stream"
)

type sale struct {
	City  string `csv:"city" json:"city"`
	Cents int64  `csv:"cents" json:"cents"`
}

// Sales are read as CSV and written as JSON, into a directory for each city.
func ExampleSink() {
	dir, err := os.MkdirTemp("", "sales")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, []byte("cents,city\n500,Ulm\n700,Bonn\n"), 0o600); err != nil {
		log.Fatal(err)
	}

	env := stream.NewEnv(stream.DefaultParallelism(1))
	stream.FromSource(env, files.Source[sale]{Paths: []string{in}, Format: csv.Format[sale]{Headed: true}}).
		SinkTo(files.Sink[sale]{
			Dir: out, Format: json.Format[sale]{}, Suffix: ".json",
			Partition: func(s sale) string { return "city=" + s.City },
			Rolling:   files.Rolling{Size: 128 << 20, Interval: time.Minute},
		})
	if err := env.Execute(context.Background(), "sales"); err != nil {
		log.Fatal(err)
	}

	found, _ := filepath.Glob(filepath.Join(out, "*", "*.json"))
	for _, path := range found {
		text, _ := os.ReadFile(path)
		fmt.Print(filepath.Base(filepath.Dir(path)), ": ", string(text))
	}
	// Output:
	// city=Bonn: {"city":"Bonn","cents":700}
	// city=Ulm: {"city":"Ulm","cents":500}
}

// A job without an end reads each file that comes into a directory.
func ExampleSource() {
	env := stream.NewEnv(stream.CheckpointInterval(time.Second))
	lines := stream.FromSource(env, files.Lines("/data/in").MonitorContinuously(10*time.Second))
	lines.WriteText("/data/out", stream.Self[string])
}
