package snapshot

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/snapshot/pb"
)

const testFile = testDirectory + "/" + MetadataName

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := (&maker{t: t, inFlight: true}).metadata()
		data := Encode(m, testDirectory)
		got, err := Decode(data, testFile)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(m, got) {
			t.Fatalf("wrote %+v\nread  %+v", m, got)
		}
		if !bytes.Equal(data, Encode(got, testDirectory)) {
			t.Fatal("equal metadata, other bytes")
		}
		if m.Size() != got.Size() {
			t.Fatalf("wrote %d bytes of state, read %d", m.Size(), got.Size())
		}
	})
}

// What lies in the metadata and belongs to many channels is there once; and bytes that
// are none need no place.
func TestInlineBytesOfChannels(t *testing.T) {
	data := bytes.Repeat([]byte("x"), 1000)
	file := Handle{Inline: data, Length: 1000, Checksum: Checksum(data)}
	var s SubtaskState
	for i := range 50 {
		s.Inputs = append(s.Inputs, ChannelState{Channel: i, File: file, Buffers: []Extent{{int64(20 * i), 20}}})
	}
	s.Outputs = []ChannelState{{File: file, Buffers: []Extent{{0, 1}}}}
	s.Lists = []ListState{{Name: "empty", Elements: []Extent{{}, {}}}}
	m := &Metadata{Triggered: time.UnixMilli(0).UTC(), Operators: []OperatorState{{ID: operatorID(0), Parallelism: 1, MaxParallelism: 1, Subtasks: []SubtaskState{s}}}}
	encoded := Encode(m, testDirectory)
	if n := bytes.Count(encoded, data); n != 1 || m.Size() != 1000 {
		t.Errorf("the bytes are there %d times, and %d are counted", n, m.Size())
	}
	if got, err := Decode(encoded, testFile); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("%+v, %v", got, err)
	}
}

// small is a snapshot in a directory, whose one file holds two key groups.
func small(dir fs.Location) *Metadata {
	data := []byte("group0group1")
	state := Handle{Location: dir.Join("state"), Length: 12, Checksum: Checksum(data)}
	sum := func(from, to int) uint32 { return Checksum(data[from:to]) }
	return &Metadata{Checkpoint: 7, Kind: Savepoint, Triggered: time.UnixMilli(5).UTC(), Operators: []OperatorState{{
		ID: operatorID(0), Parallelism: 1, MaxParallelism: 2, Coordinator: Handle{Inline: []byte("c"), Length: 1, Checksum: Checksum([]byte("c"))},
		Subtasks: []SubtaskState{{Keyed: []KeyedState{{Last: 1, Files: []KeyedFile{{Handle: state}},
			Sections: []Section{{Group: 0, Length: 6, Checksum: sum(0, 6)}, {Group: 1, Offset: 6, Length: 6, Checksum: sum(6, 12)}}}}}},
	}}}
}

// Each file that is cut short, has one other bit, or something after its end, is
// refused, and the error names it.
func TestDamagedMetadataIsRefused(t *testing.T) {
	data := Encode(small(testDirectory), testDirectory)
	refused := func(what string, damaged []byte) {
		t.Helper()
		_, err := Decode(damaged, testFile)
		e, ok := errors.AsType[*CorruptError](err)
		if !ok || e.Location != testFile || e.Offset < 0 || e.Offset > int64(len(damaged)) || !strings.HasPrefix(err.Error(), "mem:/ckpt/chk-7/_metadata at byte ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for n := range data {
		refused("cut short", data[:n])
	}
	for bit := range 8 * len(data) {
		other := bytes.Clone(data)
		other[bit/8] ^= 1 << (bit % 8)
		refused("one bit", other)
	}
	refused("longer", append(bytes.Clone(data), 0))
	refused("foreign", []byte("SQLite format 3\x00 and more"))
	refused("foreign and short", []byte("PK"))
	for want, damaged := range map[string][]byte{
		"at byte 0: it does not begin as the metadata":                                 []byte("SQLite format 3"),
		"at byte 20: it is cut short: it ends within its header of 24":                 data[:20],
		"it is cut short: want ":                                                       data[:len(data)-1],
		"at byte 24: it is damaged: bytes 24 to ":                                      append(bytes.Clone(data[:len(data)-1]), data[len(data)-1]^1),
		"at byte 8: it is of version 2, and this program reads version 1":              versioned(data, 2),
		"at byte 24: the payload contradicts itself: job: identifier \"\": want 32 he": frame(nil),
	} {
		if _, err := Decode(damaged, testFile); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func versioned(data []byte, version byte) []byte {
	other := bytes.Clone(data)
	other[8] = version
	sum := Checksum(other[:20])
	other[20], other[21], other[22], other[23] = byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)
	return other
}

// FuzzDecode: no bytes make Decode panic, and what it accepts can be encoded,
// read again, and assigned.
func FuzzDecode(f *testing.F) {
	m := &Metadata{Operators: []OperatorState{{ID: operatorID(0), Parallelism: 2, MaxParallelism: 8, Subtasks: []SubtaskState{
		{Keyed: []KeyedState{{Last: 3, Files: []KeyedFile{{Handle: Handle{Location: "mem:/a", Length: 10}}}, Sections: []Section{{Group: 1, Length: 5}}}}},
		{Lists: []ListState{{Name: "l", File: Handle{Location: "mem:/b", Length: 4}, Elements: []Extent{{0, 2}, {2, 2}}}}},
	}}}}
	f.Add(Encode(m, ""), true)
	f.Add(Encode(m, "")[headerLength:], false)
	f.Fuzz(func(t *testing.T, data []byte, framed bool) {
		if !framed {
			data = frame(data) // reaches behind the checksums
		}
		m, err := Decode(data, testFile)
		if err != nil {
			if _, ok := errors.AsType[*CorruptError](err); !ok {
				t.Fatalf("error %T", err)
			}
			return
		}
		again, err := Decode(Encode(m, testDirectory), testFile)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(Encode(again, ""), Encode(m, "")) {
			t.Fatal("read again it is another")
		}
		var targets []Target
		for _, o := range m.Operators {
			targets = append(targets, Target{ID: o.ID, Parallelism: 3, MaxParallelism: 128})
		}
		_, _ = Assign(m, targets, Rules{AllowNonRestored: true})
	})
}

// A later field does not keep this version from reading.
func TestUnknownFieldsAreSkipped(t *testing.T) {
	m := small(testDirectory)
	var message pb.Metadata
	payload := Encode(m, testDirectory)
	payload = payload[headerLength : len(payload)-trailerLength]
	payload = append(bytes.Clone(payload), 0xfa, 0x3f, 0x01, 'x') // field 1023
	if err := proto.Unmarshal(payload, &message); err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(frame(payload), testFile); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("%+v, %v", got, err)
	}
}
