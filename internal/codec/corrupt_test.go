package codec

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAppendErrors(t *testing.T) {
	p := plan[[]celsius](t)
	out, err := p.Append([]byte("x"), [][]celsius{{{1}, {math.MinInt}}})
	if err == nil || !strings.Contains(err.Error(), "record[]") || !strings.Contains(err.Error(), "absolute zero") {
		t.Errorf("error %v, want the path and the cause", err)
	}
	if string(out) != "x" {
		t.Errorf("dst came back as %q", out)
	}
}

// TestTooLarge encodes one string so often that its column passes 2 GiB. The
// strings share their bytes, and the error comes before they are copied.
func TestTooLarge(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	_, err := plan[string](t).Append(nil, slices.Repeat([]string{big}, 2048))
	if err == nil || !strings.Contains(err.Error(), "more than 2147483647 bytes in one batch") {
		t.Errorf("error %v", err)
	}
	_, err = plan[[]struct{}](t).Append(nil, [][]struct{}{make([]struct{}, math.MaxInt32), {{}}})
	if err == nil || !strings.Contains(err.Error(), "more than 2147483647 elements in one batch") {
		t.Errorf("error %v", err)
	}
	_, err = plan[struct{}](t).Append(nil, make([]struct{}, math.MaxInt))
	if err == nil && math.MaxInt > maxColumn {
		t.Error("2^63 empty records were encoded")
	}
}

func TestCorrupt(t *testing.T) {
	le := binary.LittleEndian
	for name, test := range map[string]struct {
		decode func(src []byte) error
		src    []byte
		want   string
	}{
		"bool":            {decode[bool](1), []byte{2}, "bool 0 is 2"},
		"descending ends": {decode[string](3), le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 2), 1), 2), "needs 2 bytes"},
		"ends out of order": {decode[string](3), append(le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 2), 1), 2), "ab"...),
			"end offset 1 of value 1 is out of order"},
		"huge end":          {decode[string](1), []byte{0xff, 0xff, 0xff, 0xff}, "end offset 4294967295"},
		"validity flag":     {decode[*bool](1), []byte{7, 0}, "validity flag is 7"},
		"validity tail":     {decode[*bool](1), []byte{1, 2}, "beyond its 1 values"},
		"nil with bytes":    {decode[[]byte](1), []byte{1, 0, 1, 0, 0, 0, 'x'}, "nil value 0 has 1 bytes"},
		"nil with elements": {decode[[]bool](1), []byte{1, 0, 1, 0, 0, 0, 1}, "nil value 0 has 1 elements"},
		"nil with entries":  {decode[map[bool]bool](1), []byte{1, 0, 1, 0, 0, 0, 1, 1}, "nil value 0 has 1 entries"},
		"nanoseconds":       {decode[time.Time](1), slices.Repeat([]byte{0x7f}, 12), "nanoseconds"},
		"self":              {decode[celsius](1), []byte{1, 0, 0, 0, 'x'}, "expected integer"},
		"too many values":   {decode[int64](1 << 30), make([]byte, 8), "1073741824 values of int64 from 8 bytes"},
		"negative":          {decode[int64](-1), make([]byte, 8), "decode -1 values"},
		"too many elements": {decode[[][1000]int64](1), []byte{0, 0xff, 0xff, 0xff, 0x7f, 0, 0}, "from 2 bytes"},
		"too many empties":  {decode[[]allSkipped](1), []byte{0, 0xff, 0xff, 0xff, 0x7f, 0, 0}, "from 2 bytes"},
		"too many pointees": {decode[*allSkipped](100), []byte{0}, "from 1 bytes"},
		"too many entries":  {decode[map[struct{}]struct{}](1), []byte{0, 0xff, 0xff, 0xff, 0x7f, 0, 0}, "from 2 bytes"},
		"negative structs":  {decode[struct{}](math.MinInt), nil, "values of struct {}"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.decode(test.src)
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want ErrCorrupt with %q", err, test.want)
			}
		})
	}
}

// decode returns a function that decodes n values of T.
func decode[T any](n int) func([]byte) error {
	return func(src []byte) error {
		p, err := For[T]()
		if err == nil {
			_, _, err = p.Decode(nil, n, src)
		}
		return err
	}
}

// TestNarrowInt decodes an int that only a 64-bit machine can hold.
func TestNarrowInt(t *testing.T) {
	enc, err := plan[int64](t).Append(nil, []int64{math.MinInt64})
	if err != nil {
		t.Fatal(err)
	}
	err = decode[int](1)(enc)
	if fits := math.MinInt == math.MinInt64; fits != (err == nil) {
		t.Errorf("this machine holds it: %t, but error %v", fits, err)
	}
}
