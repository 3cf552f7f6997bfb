package logging

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// hanging is a place that takes lines only while it is let.
type hanging struct {
	open chan struct{} // closed: it takes all
	mu   sync.Mutex    // guards out
	out  bytes.Buffer
}

func (h *hanging) Write(line []byte) (int, error) {
	<-h.open
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.out.Write(line)
}

func TestAPlaceThatHangsStopsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var good bytes.Buffer
		bad := &hanging{open: make(chan struct{})}
		logger, _, err := Open(Options{Stderr: bad})
		if err != nil {
			t.Fatal(err)
		}
		all := lanes{{to: bad}, {to: &good}}
		began := time.Now()
		for i := range 1000 {
			fmt.Fprintf(all, "line %d\n", i)
		}
		if took := time.Since(began); took != patience {
			t.Errorf("1000 lines took %s, want one wait of %s", took, patience)
		}
		synctest.Wait()
		if n := strings.Count(good.String(), "\n"); n != 1000 {
			t.Errorf("%d lines are in the place that works", n)
		}
		logger.Info("this one waits, too, and not for ever")
		close(bad.open)
		synctest.Wait()
		if n := strings.Count(bad.out.String(), "\n"); n != 1001 {
			t.Errorf("%d lines are in the place that hung, want all 1001", n)
		}
		began = time.Now()
		fmt.Fprintln(all, "late")
		if time.Since(began) != 0 || !strings.HasSuffix(bad.out.String(), "late\n") {
			t.Error("a line after that is not there when its writer goes on")
		}
	})
}

func TestWhatDoesNotFitIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := &hanging{open: make(chan struct{})}
		all := lanes{{to: bad}}
		line := append(bytes.Repeat([]byte("x"), maxQueued/4-1), '\n')
		for range 10 {
			all.Write(line)
		}
		close(bad.open)
		synctest.Wait()
		text := bad.out.String()
		written := strings.Count(text, "\n") - 1
		if want := fmt.Sprintf("lines=%d\n", 10-written); written < 4 || written > 5 || !strings.HasSuffix(text, want) {
			t.Errorf("%d lines are there, and the end is %q", written, text[max(0, len(text)-200):])
		}
	})
}

func TestAFileThatHangsIsNotWaitedForAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := &hanging{open: make(chan struct{})}
		f := &File{path: "x.log", lane: &lane{to: bad}}
		lanes{f.lane}.Write([]byte("line\n"))
		if err := f.Close(); err == nil || !strings.Contains(err.Error(), "x.log") {
			t.Errorf("got %v", err)
		}
		close(bad.open)
		synctest.Wait()
		if f.Close() != nil {
			t.Error("a file that was written cannot be closed")
		}
	})
}
