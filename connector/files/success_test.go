package files

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirstream/weir/connector"
)

// TestSuccessIsToldLast commits two files of which the second fails at first: nothing is
// told of until both are seen, and then of both.
func TestSuccessIsToldLast(t *testing.T) {
	dir := t.TempDir()
	var all []connector.Committable
	var files []pending
	for _, name := range []string{"a", "b"} {
		files = append(files, pending{Dir: dir, Hidden: ".hidden", Partition: "p=" + name, Name: name})
	}
	texts, err := encodeAll(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(texts, announcement) {
		all = append(all, connector.Committable{Data: text})
	}
	write := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, ".hidden"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".hidden", name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, "p="+name, "_SUCCESS"))
		return err == nil
	}
	a := &announcer{Committer: committer{slog.New(slog.DiscardHandler)}, dir: dir, partitions: true, name: "_SUCCESS"}
	write("a")
	if done, err := a.Commit(t.Context(), all); done != 0 || err == nil || there("a") || there("b") {
		t.Errorf("without the second file: %d done, %v", done, err)
	}
	write("b")
	if done, err := a.Commit(t.Context(), all); done != 3 || err != nil || !there("a") || !there("b") {
		t.Errorf("with both: %d done, %v", done, err)
	}
	if _, err := a.Commit(context.Background(), all[:2]); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("without an end: %v", err)
	}
}
