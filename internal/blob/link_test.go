package blob_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirstream/weir/internal/blob"
)

func TestLinkTakesAFileWithoutCopyingIt(t *testing.T) {
	s, err := blob.NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("program"), 0o700); err != nil {
		t.Fatal(err)
	}
	h := blob.Hash(sha256.Sum256([]byte("program")))
	for range 2 { // the second time it is there
		if err := s.Link(path, h); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Verify(h); err != nil {
		t.Error(err)
	}
	if err := s.Delete(h); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); string(text) != "program" {
		t.Errorf("the file itself is gone with the blob: %q, %v", text, err)
	}
	if err := s.Link(filepath.Join(t.TempDir(), "nothing"), h); err == nil {
		t.Error("a file that does not exist was taken")
	}
}
