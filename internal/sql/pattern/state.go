package pattern

import (
	"encoding/binary"
	"errors"
	"math"
)

// AppendState writes what the matcher knows between two rows behind dst. Matches that were
// found are not part of it.
func (m *Matcher) AppendState(dst []byte) []byte {
	dst = binary.AppendVarint(dst, m.row)
	dst = binary.AppendVarint(dst, m.time)
	for _, q := range []queue{m.partial, m.complete} {
		dst = binary.AppendUvarint(dst, uint64(len(q)))
		for _, r := range q {
			dst = binary.AppendUvarint(dst, uint64(r.state))
			if dst = append(dst, 0); r.slot == zeros {
				continue
			}
			dst[len(dst)-1] = 1
			dst = binary.AppendVarint(dst, r.Start)
			dst = binary.AppendVarint(dst, r.time)
			for _, n := range m.counts.of(r.slot) {
				dst = binary.AppendUvarint(dst, uint64(n))
			}
		}
	}
	return dst
}

var errState = errors.New("this is no state of a matcher of the pattern")

// RestoreState gives a matcher the state that AppendState wrote, of one with the same
// automaton.
func (m *Matcher) RestoreState(text []byte) error {
	m.Reset()
	d := decoder{text: text}
	m.row, m.time = d.signed(), d.signed()
	m.partial = m.partial[:0]
	for _, q := range []*queue{&m.partial, &m.complete} {
		for n := d.number(); n > 0 && !d.failed; n-- {
			r := Run{state: int32(d.number())}
			if int(r.state) >= len(m.automaton.states) || r.state < 0 {
				return errState
			}
			if d.number() == 0 {
				r.Start = m.beginning().Start
			} else {
				r.slot, r.Start, r.time = m.counts.copy(zeros), d.signed(), d.signed()
				of := m.counts.of(r.slot)
				for e := range of {
					n := d.number()
					if n > math.MaxInt32 {
						return errState
					}
					of[e] = int32(n)
				}
			}
			q.add(r)
		}
	}
	if d.failed || len(d.text) > 0 {
		return errState
	}
	return nil
}

// decoder reads numbers. It has failed if one was not there.
type decoder struct {
	text   []byte
	failed bool
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.text)
	return v &^ d.pass(n)
}

func (d *decoder) signed() int64 {
	v, n := binary.Varint(d.text)
	return v &^ int64(d.pass(n))
}

// pass goes on behind a number of n bytes. It gives the bits that are not to be believed.
func (d *decoder) pass(n int) uint64 {
	if n <= 0 {
		d.text, d.failed = nil, true
		return ^uint64(0)
	}
	d.text = d.text[n:]
	return 0
}
