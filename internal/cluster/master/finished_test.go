package master

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
)

func TestFinishedJobsInFiles(t *testing.T) {
	loop := actor.Start("finished")
	defer loop.Close()
	f := &finishedJobs{loop: loop, dir: t.TempDir(), log: slog.New(slog.DiscardHandler)}
	v := execgraph.View{Job: ident.JobID{ID: ident.ID{1}}, Name: "one"}
	ask := func(what func(done func(error))) error {
		answer := make(chan error)
		loop.Post(func() { what(func(err error) { answer <- err }) })
		return <-answer
	}
	var got execgraph.View
	read := func(done func(error)) {
		f.Read(v.Job, func(v execgraph.View, err error) { got = v; done(err) })
	}
	if err := ask(func(done func(error)) { f.Write(v, done) }); err != nil {
		t.Fatal(err)
	}
	if err := ask(read); err != nil || got.Name != "one" {
		t.Errorf("read %+v, %v", got, err)
	}
	if err := os.WriteFile(f.path(v.Job), []byte("not that"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ask(read); err == nil || !strings.Contains(err.Error(), "decode the view of a job") {
		t.Errorf("a damaged file: %v", err)
	}
	if err := f.remove(v.Job); err != nil {
		t.Error(err)
	}
	if err := f.remove(v.Job); err != nil {
		t.Errorf("removed twice: %v", err)
	}
	if err := ask(read); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
	f.dir = filepath.Join(f.dir, "nowhere")
	if err := ask(func(done func(error)) { f.Write(v, done) }); err == nil {
		t.Error("written into a directory that does not exist")
	}
}
