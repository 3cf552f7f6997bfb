package rpc

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc/pb"
)

func TestFrames(t *testing.T) {
	fence := ident.LeaderID{ID: ident.ID{1, 2, 3}}
	call, err := appendCall(nil, 300, 1500*time.Millisecond, "blob", Call{Method: "Blob/Read", Fence: fence, Request: &pb.ReadBlobRequest{Offset: 1}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeFrame(call)
	if err != nil || got.kind != frameCall || got.id != 300 || got.timeout != 1500*time.Millisecond || got.fence != fence ||
		got.endpoint != "blob" || got.method != "Blob/Read" || !bytes.Equal(got.payload, []byte{0x10, 1}) {
		t.Errorf("call came back as %+v, %v", got, err)
	}
	got, err = decodeFrame(append(appendAnswer(nil, 1, codeFenced, "no"), "payload"...))
	if err != nil || got.kind != frameAnswer || got.id != 1 || got.code != codeFenced || got.text != "no" || string(got.payload) != "payload" {
		t.Errorf("answer came back as %+v, %v", got, err)
	}
	for n := range len(call) - 2 { // all that is cut in the header
		if f, err := decodeFrame(call[:n]); err == nil {
			t.Errorf("the first %d bytes of a call are the frame %+v", n, f)
		}
	}
	long, err := decodeFrame(appendAnswer(nil, 1, codeRefused, strings.Repeat("x", 1<<20)))
	if err != nil || len(long.text) != maxText {
		t.Errorf("a text of 1 MiB travels as %d bytes, %v", len(long.text), err)
	}
}

// The numbers of the protocol must not change.
func TestFrameBytes(t *testing.T) {
	call, _ := appendCall(nil, 7, time.Second, "e", Call{Method: "m", Fence: ident.LeaderID{ID: ident.ID{15: 9}}})
	want := "\x01\x07\xc0\x84\x3d" + strings.Repeat("\x00", 15) + "\x09" + "\x01e" + "\x01m"
	if string(call) != want {
		t.Errorf("call is %q, want %q", call, want)
	}
	if got, want := string(appendAnswer(nil, 7, codeTimeout, "late")), "\x02\x07\x05\x04late"; got != want {
		t.Errorf("answer is %q, want %q", got, want)
	}
}

func TestUnknownCodeIsARefusal(t *testing.T) {
	var refused *RefusedError
	if err := decodeError(200, "news from the future"); !errors.As(err, &refused) || refused.Text != "news from the future" {
		t.Error(err)
	}
}

func TestOutboxBound(t *testing.T) {
	o := newOutbox()
	frame := make([]byte, MaxMessage)
	for range maxQueued / MaxMessage {
		if !o.put(outgoing{frame: frame}) {
			t.Fatal("no room")
		}
	}
	if o.put(outgoing{frame: frame[:1]}) || o.isClosed() {
		t.Error("room beyond the bound")
	}
	stop, sent := errors.New("stop"), 0
	if err := o.write(func([]byte) error { sent++; return stop }); err != stop || sent != 1 {
		t.Errorf("%d sent, %v", sent, err)
	}
	if !o.put(outgoing{frame: frame}) {
		t.Error("no room after the writer took all")
	}
	o.close()
	if o.put(outgoing{}) {
		t.Error("room in a closed outbox")
	}
	sent = 0
	if err := o.write(func([]byte) error { sent++; return nil }); err != nil || sent != 1 {
		t.Errorf("%d sent, %v", sent, err)
	}
}

func FuzzDecodeFrame(f *testing.F) {
	call, _ := appendCall(nil, 1, time.Second, "blob", Call{Method: "Blob/Read", Request: &pb.ReadBlobRequest{Sha256: "00"}})
	f.Add(call)
	f.Add(appendAnswer(nil, 1<<60, codeFenced, "fenced off"))
	f.Add([]byte{frameCall, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decodeFrame(data)
		if err != nil {
			return
		}
		var again []byte
		switch got.kind {
		case frameCall:
			again, err = appendCall(nil, got.id, got.timeout, got.endpoint, Call{Method: got.method, Fence: got.fence})
		case frameAnswer:
			if len(got.text) > maxText {
				return
			}
			again = appendAnswer(nil, got.id, got.code, got.text)
		}
		if err != nil {
			t.Fatal(err)
		}
		same, err := decodeFrame(append(again, got.payload...))
		if err != nil || same.id != got.id || same.timeout != got.timeout || same.fence != got.fence || same.endpoint != got.endpoint ||
			same.method != got.method || same.code != got.code || same.text != got.text || !bytes.Equal(same.payload, got.payload) {
			t.Fatalf("%+v became %+v, %v", got, same, err)
		}
	})
}
