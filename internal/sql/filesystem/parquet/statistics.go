package parquet

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/format"
)

// longest is how many bytes a text has at most that is noted as the least or greatest.
const longest = 128

// statistics are the least and the greatest value of a column in a row group.
type statistics struct {
	physical format.Type
	signed   bool // bytes are signed numbers, the highest first
	nulls    int64
	some     bool // a value is noted
	none     bool // there is no order, or a value is too long

	least, greatest           int64
	leastFloat, greatestFloat float64
	leastText, greatestText   []byte
}

func (s *statistics) begin(n *node) {
	*s = statistics{physical: n.physical, signed: n.decimal(), none: n.physical == format.Int96 || n.physical == format.Boolean,
		leastText: s.leastText[:0], greatestText: s.greatestText[:0]}
}

func (s *statistics) note(v int64) {
	if !s.some {
		s.some, s.least, s.greatest = true, v, v
		return
	}
	s.least, s.greatest = min(s.least, v), max(s.greatest, v)
}

// noteFloat leaves NaN out, which has no place in the order.
func (s *statistics) noteFloat(v float64) {
	switch {
	case v != v:
	case !s.some:
		s.some, s.leastFloat, s.greatestFloat = true, v, v
	default:
		s.leastFloat, s.greatestFloat = min(s.leastFloat, v), max(s.greatestFloat, v)
	}
}

func (s *statistics) noteText(v []byte) {
	switch {
	case s.none:
	case len(v) > longest:
		s.none = true
	case !s.some:
		s.some, s.leastText, s.greatestText = true, append(s.leastText, v...), append(s.greatestText, v...)
	case s.compare(v, s.leastText) < 0:
		s.leastText = append(s.leastText[:0], v...)
	case s.compare(v, s.greatestText) > 0:
		s.greatestText = append(s.greatestText[:0], v...)
	}
}

func (s *statistics) compare(a, b []byte) int {
	if s.signed && a[0]>>7 != b[0]>>7 {
		return int(b[0]>>7) - int(a[0]>>7)
	}
	return bytes.Compare(a, b)
}

// encoded writes them down.
func (s *statistics) encoded() format.Statistics {
	out := format.Statistics{NullCount: s.nulls}
	if !s.some || s.none {
		return out
	}
	switch s.physical {
	case format.Int32:
		out.MinValue, out.MaxValue = little32(uint32(s.least)), little32(uint32(s.greatest))
	case format.Int64:
		out.MinValue, out.MaxValue = little64(uint64(s.least)), little64(uint64(s.greatest))
	case format.Float:
		out.MinValue, out.MaxValue = little32(math.Float32bits(float32(below(s.leastFloat)))), little32(math.Float32bits(float32(above(s.greatestFloat))))
	case format.Double:
		out.MinValue, out.MaxValue = little64(math.Float64bits(below(s.leastFloat))), little64(math.Float64bits(above(s.greatestFloat)))
	default:
		out.MinValue, out.MaxValue = bytes.Clone(s.leastText), bytes.Clone(s.greatestText)
	}
	return out
}

// below and above are the zero of the sign that keeps both zeros within.
func below(v float64) float64 {
	if v == 0 {
		return math.Copysign(0, -1)
	}
	return v
}

func above(v float64) float64 {
	if v == 0 {
		return 0
	}
	return v
}

func little32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func little64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
