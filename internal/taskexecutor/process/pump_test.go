package process

import (
	"os"
	"testing"
)

// What a process has written before its end is read whenever the reader comes to it:
// also when that is after the deadline, because the log took so long.
func TestWhatIsInAPipeIsReadAfterTheDeadline(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close() // somebody may still write
	if _, err := w.WriteString("panic: the last words\n"); err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(past); err != nil {
		t.Fatal(err)
	}
	got := &buffer{}
	pump(r, got)
	if string(got.text) != "panic: the last words\n" {
		t.Errorf("got %q", got.text)
	}
}
