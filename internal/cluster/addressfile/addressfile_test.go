package addressfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWriteReadRemove(t *testing.T) {
	path := Path(filepath.Join(t.TempDir(), "run"), 42)
	if _, ok, err := Read(path); ok || err != nil {
		t.Errorf("before it is written: %v, error %v", ok, err)
	}
	want := Addresses{REST: "localhost:8081", RPC: "localhost:6123"}
	if err := Write(path, want); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := Read(path); got != want || !ok || err != nil {
		t.Errorf("read %v, %v, error %v", got, ok, err)
	}
	for range 2 {
		if err := Remove(path); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(path, []byte(`{"rest":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(path); err == nil {
		t.Error("half a file was read")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"rest":"localhost:8081","rpc":"localhost:6123"}`))
	f.Add([]byte(`{"rest":`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "address")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, ok, err := Read(path)
		if !ok && err == nil {
			t.Error("the file is there")
		}
		if err != nil {
			return
		}
		if err := Write(path, got); err != nil {
			t.Fatal(err)
		}
		if again, _, err := Read(path); again != got || err != nil {
			t.Errorf("%v was written and read as %v, error %v", got, again, err)
		}
	})
}
