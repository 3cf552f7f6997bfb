package worker

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/fs/mem"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
)

// What travels with an acknowledgement is bounded where there are no files, and what is
// beyond is told with the option that lifts the bound.
func TestAPartInMemoryIsBounded(t *testing.T) {
	p := (&checkpoints{}).part("", 0)
	if _, err := p.Write(make([]byte, maxInline)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write([]byte{1}); err == nil || !strings.Contains(err.Error(), "5242880 bytes") || !strings.Contains(err.Error(), "execution.checkpointing.dir") {
		t.Errorf("got %v, want the bound and the option", err)
	}
	if h, err := p.commit(); err != nil || h.Length != maxInline || len(h.Inline) != maxInline {
		t.Errorf("got %d of %d bytes, %v", len(h.Inline), h.Length, err)
	}
}

// State up to the threshold is in the handle, and there is no file; what is larger is
// all in a file. Either is read back with its checksum.
func TestASmallPartHasNoFile(t *testing.T) {
	for _, tt := range []struct {
		threshold int64
		pieces    []int
		inline    bool
	}{
		{10, []int{4, 6}, true},
		{10, []int{4, 6, 1}, false},
		{10, []int{11}, false},
		{0, []int{1}, false},
		{0, nil, true},
		{-5, []int{0, 3, 4}, false},
	} {
		files := mem.New(time.Now)
		c := &checkpoints{w: &Worker{Options: Options{Files: files}}}
		p := c.part("mem:/chk-1/state", tt.threshold)
		var want []byte
		for i, n := range tt.pieces {
			piece := bytes.Repeat([]byte{byte(i + 1)}, n)
			if written, err := p.Write(piece); err != nil || written != n {
				t.Fatal(written, err)
			}
			want = append(want, piece...)
		}
		h, err := p.commit()
		if err != nil {
			t.Fatal(err)
		}
		there, _ := files.List(t.Context(), "mem:/chk-1")
		if got := h.Location == ""; got != tt.inline || got != (len(there) == 0) {
			t.Errorf("%+v: location %q, files %v", tt, h.Location, there)
		}
		got, err := storage.Bytes(t.Context(), files, h)
		if err != nil || !bytes.Equal(got, want) || h.Length != int64(len(want)) || h.Checksum != snapshot.Checksum(want) {
			t.Errorf("%+v: %v, %v, %+v", tt, got, err, h)
		}
	}
}
