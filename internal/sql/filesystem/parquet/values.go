package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// form is how the values of a page are written.
type form uint8

const (
	plain      form = iota
	indexed         // places in the dictionary
	deltas          // differences
	split           // the bytes of a value apart
	runs            // booleans in runs
	lengthed        // texts behind their lengths
	prefixedBy      // texts without what they have in common with the one before
)

const (
	// placesOfOld is what old programs call both a dictionary and the places in it.
	placesOfOld format.Encoding = 2
	// some is how many values are read at once where they are converted.
	some = 1024

	// maxData bounds the bytes of a column of texts in one batch.
	maxData = 1 << 30
)

// values reads the values of a page that are not NULL.
type values struct {
	form   form
	size   int    // of a value in bytes: plain, split
	text   []byte // what is left, or all of it
	at     int    // of the next value: booleans, split, lengthed, prefixedBy
	count  int    // split
	hybrid hybrid
	delta  delta

	lengths, prefixes []int32
	last              []byte // the text before

	*scratch // nil while a dictionary is read, which needs none
}

// scratch is memory that the leaves of a reader use one after the other, for values that
// are looked up or converted.
type scratch struct {
	places [some]uint32
	deltas [some]int64
	i32    [some]int32
	i64    [some]int64
	f32    [some]float32
	raw    []byte
}

// errNoDictionary says that a page refers to what is not there.
var errNoDictionary = errors.New("values are places in a dictionary, and there is none")

// sizeOf is how many bytes a plain value has; 0: it says so itself, or has a bit.
func sizeOf(n *node) int {
	switch n.physical {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return n.length
	}
	return 0
}

// open begins a page of at most count values.
func (v *values) open(n *node, d *dictionary, text []byte, encoding format.Encoding, count int) error {
	v.text, v.at, v.size = text, 0, sizeOf(n)
	wrong := func() error {
		return fmt.Errorf("values of type %s are encoded as %s, which is not read", n.physical, encoding)
	}
	switch encoding {
	case format.Plain:
		v.form = plain
	case placesOfOld, format.RLEDictionary:
		v.form = indexed
		if count == 0 || len(text) == 0 { // all are NULL
			v.hybrid = hybrid{}
			return nil
		}
		if d.count < 0 {
			return errNoDictionary
		}
		if text[0] > 32 {
			return fmt.Errorf("places in the dictionary have %d bits", text[0])
		}
		v.hybrid = newHybrid(text[1:], int(text[0]))
	case format.RLE:
		if n.physical != format.Boolean {
			return wrong()
		}
		v.form = runs
		if len(text) < 4 {
			v.hybrid = hybrid{}
			return nil
		}
		v.hybrid = newHybrid(text[4:], 1)
	case format.DeltaBinaryPacked:
		if n.physical != format.Int32 && n.physical != format.Int64 {
			return wrong()
		}
		v.form = deltas
		return v.delta.begin(text, count)
	case format.DeltaLengthByteArray:
		if n.physical != format.ByteArray {
			return wrong()
		}
		v.form = lengthed
		return v.takeLengths(text, count)
	case format.DeltaByteArray:
		if n.physical != format.ByteArray && n.physical != format.FixedLenByteArray {
			return wrong()
		}
		v.form, v.last = prefixedBy, v.last[:0]
		var err error
		if v.prefixes, text, err = lengths(v.prefixes, text, count); err != nil {
			return err
		}
		return v.takeLengths(text, count)
	case format.ByteStreamSplit:
		if v.size == 0 || n.physical == format.Int96 {
			return wrong()
		}
		v.form, v.count = split, len(text)/v.size
	default:
		return wrong()
	}
	return nil
}

func (v *values) takeLengths(text []byte, count int) (err error) {
	v.lengths, v.text, err = lengths(v.lengths, text, count)
	return err
}

// take gives the bytes of the next n plain values.
func (v *values) take(n int) ([]byte, error) {
	if n > len(v.text)/v.size {
		return nil, errEarly
	}
	text := v.text[:n*v.size]
	v.text = v.text[n*v.size:]
	return text, nil
}

// streams checks that n values follow whose bytes are apart.
func (v *values) streams(n int) (at int, err error) {
	if n > v.count-v.at {
		return 0, errEarly
	}
	at = v.at
	v.at += n
	return at, nil
}

func (v *values) int32s(dst []int32, d *dictionary) error {
	switch v.form {
	case plain:
		text, err := v.take(len(dst))
		if err != nil {
			return err
		}
		for i := range dst {
			dst[i] = int32(binary.LittleEndian.Uint32(text[i*4:]))
		}
		return nil
	case deltas:
		for len(dst) > 0 {
			n := min(len(dst), some)
			if err := v.delta.numbers(v.deltas[:n]); err != nil {
				return err
			}
			for i, x := range v.deltas[:n] {
				dst[i] = int32(x)
			}
			dst = dst[n:]
		}
		return nil
	case split:
		at, err := v.streams(len(dst))
		for i := range dst {
			dst[i] = int32(v.apart32(at + i))
		}
		return err
	}
	return gather(v, dst, d.i32)
}

func (v *values) int64s(dst []int64, d *dictionary) error {
	switch v.form {
	case plain:
		text, err := v.take(len(dst))
		if err != nil {
			return err
		}
		for i := range dst {
			dst[i] = int64(binary.LittleEndian.Uint64(text[i*8:]))
		}
		return nil
	case deltas:
		return v.delta.numbers(dst)
	case split:
		at, err := v.streams(len(dst))
		for i := range dst {
			dst[i] = int64(v.apart64(at + i))
		}
		return err
	}
	return gather(v, dst, d.i64)
}

func (v *values) float32s(dst []float32, d *dictionary) error {
	switch v.form {
	case plain:
		text, err := v.take(len(dst))
		if err != nil {
			return err
		}
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(text[i*4:]))
		}
		return nil
	case split:
		at, err := v.streams(len(dst))
		for i := range dst {
			dst[i] = math.Float32frombits(v.apart32(at + i))
		}
		return err
	}
	return gather(v, dst, d.f32)
}

func (v *values) float64s(dst []float64, d *dictionary) error {
	switch v.form {
	case plain:
		text, err := v.take(len(dst))
		if err != nil {
			return err
		}
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(text[i*8:]))
		}
		return nil
	case split:
		at, err := v.streams(len(dst))
		for i := range dst {
			dst[i] = math.Float64frombits(v.apart64(at + i))
		}
		return err
	}
	return gather(v, dst, d.f64)
}

// apart32 puts a value of four bytes together; one that is not there is 0.
func (v *values) apart32(i int) uint32 {
	if i >= v.count {
		return 0
	}
	t, n := v.text, v.count
	return uint32(t[i]) | uint32(t[i+n])<<8 | uint32(t[i+2*n])<<16 | uint32(t[i+3*n])<<24
}

func (v *values) apart64(i int) uint64 {
	if i >= v.count {
		return 0
	}
	t, n := v.text, v.count
	return uint64(t[i]) | uint64(t[i+n])<<8 | uint64(t[i+2*n])<<16 | uint64(t[i+3*n])<<24 |
		uint64(t[i+4*n])<<32 | uint64(t[i+5*n])<<40 | uint64(t[i+6*n])<<48 | uint64(t[i+7*n])<<56
}

// gather reads values by their places in the dictionary.
func gather[T int32 | int64 | float32 | float64](v *values, dst, dictionary []T) error {
	for len(dst) > 0 {
		n := min(len(dst), some)
		places := v.places[:n]
		if err := v.hybrid.numbers(places); err != nil {
			return err
		}
		part := dst[:n]
		for i, k := range places {
			if uint64(k) >= uint64(len(dictionary)) {
				return errPlace(k, len(dictionary))
			}
			part[i] = dictionary[k]
		}
		dst = dst[n:]
	}
	return nil
}

func errPlace(k uint32, count int) error {
	return fmt.Errorf("a value is number %d of its dictionary, which has %d", k, count)
}

func (v *values) bools(dst []bool) error {
	if v.form == plain {
		if len(dst) > len(v.text)*8-v.at {
			return errEarly
		}
		for i := range dst {
			dst[i] = v.text[v.at>>3]>>(v.at&7)&1 != 0
			v.at++
		}
		return nil
	}
	for len(dst) > 0 {
		n := min(len(dst), some)
		if err := v.hybrid.numbers(v.places[:n]); err != nil {
			return err
		}
		for i, k := range v.places[:n] {
			dst[i] = k != 0
		}
		dst = dst[n:]
	}
	return nil
}

// fixed reads values of size bytes each, one behind the other.
func (v *values) fixed(dst []byte, d *dictionary) error {
	n := len(dst) / v.size
	switch v.form {
	case plain:
		text, err := v.take(n)
		copy(dst, text)
		return err
	case split:
		at, err := v.streams(n)
		if err != nil {
			return err
		}
		for k := range v.size {
			stream := v.text[k*v.count+at:]
			for i := range n {
				dst[i*v.size+k] = stream[i]
			}
		}
		return nil
	case prefixedBy:
		for i := range n {
			text, err := v.suffixed()
			if err != nil {
				return err
			}
			if len(text) != v.size {
				return fmt.Errorf("a value has %d bytes, and its type %d", len(text), v.size)
			}
			copy(dst[i*v.size:], text)
		}
		return nil
	}
	for i := range n {
		if err := v.hybrid.numbers(v.places[:1]); err != nil {
			return err
		}
		if k := int(v.places[0]); k < d.count {
			copy(dst[i*v.size:(i+1)*v.size], d.data[k*v.size:])
		} else {
			return errPlace(v.places[0], d.count)
		}
	}
	return nil
}

// suffixed puts the next text together.
func (v *values) suffixed() ([]byte, error) {
	if v.at >= len(v.lengths) || v.at >= len(v.prefixes) {
		return nil, errEarly
	}
	prefix, n := int(v.prefixes[v.at]), int(v.lengths[v.at])
	v.at++
	if prefix > len(v.last) || n > len(v.text) {
		return nil, errEarly
	}
	if v.last = append(v.last[:prefix], v.text[:n]...); len(v.last) > maxPage {
		return nil, errTooLong
	}
	v.text = v.text[n:]
	return v.last, nil
}

var errTooLong = fmt.Errorf("the texts of a batch have more than %d bytes", maxData)
