package exec

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

func init() {
	define(func(*plan.AggregateCall) []types.Type { return []types.Type{types.Bytes().NotNull()} }, newApproximate, "APPROX_COUNT_DISTINCT")
}

// A sketch counts different hashes: exactly as long as they are few, and then as a
// HyperLogLog of 2^14 registers, whose count is within one in a hundred.
type sketch struct {
	few       map[uint64]struct{}
	registers []byte
}

const (
	registerBits = 14
	mostFew      = 1024
)

func (s *sketch) add(h uint64) {
	if s.registers == nil {
		if s.few == nil {
			s.few = map[uint64]struct{}{}
		}
		if s.few[h] = struct{}{}; len(s.few) <= mostFew {
			return
		}
		s.registers = make([]byte, 1<<registerBits)
		for h := range s.few {
			s.note(h)
		}
		s.few = nil
		return
	}
	s.note(h)
}

// note puts the place of a hash's first bit into its register.
func (s *sketch) note(h uint64) {
	register, rank := h>>(64-registerBits), byte(bits.LeadingZeros64(h<<registerBits|1<<(registerBits-1))+1)
	s.registers[register] = max(s.registers[register], rank)
}

func (s *sketch) count() int64 {
	if s.registers == nil {
		return int64(len(s.few))
	}
	m := float64(len(s.registers))
	sum, empty := 0.0, 0.0
	for _, r := range s.registers {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			empty++
		}
	}
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && empty > 0 {
		estimate = m * math.Log(m/empty)
	}
	return int64(math.Round(estimate))
}

// append writes the sketch: hashes of eight bytes, or the registers, which are more.
func (s *sketch) append(dst []byte) []byte {
	for h := range s.few { // order does not matter to whoever reads
		dst = binary.BigEndian.AppendUint64(dst, h)
	}
	return append(dst, s.registers...)
}

func (s *sketch) merge(b []byte) {
	if len(b) < 1<<registerBits {
		for ; len(b) >= 8; b = b[8:] {
			s.add(binary.BigEndian.Uint64(b))
		}
		return
	}
	if s.registers == nil {
		few := s.few
		s.few, s.registers = nil, make([]byte, 1<<registerBits)
		for h := range few {
			s.note(h)
		}
	}
	for i, r := range b[:1<<registerBits] {
		s.registers[i] = max(s.registers[i], r)
	}
}

// approximate is APPROX_COUNT_DISTINCT.
type approximate struct {
	keys   *keyer
	groups []sketch
}

func newApproximate(c *plan.AggregateCall) (accumulator, error) {
	if len(c.ArgTypes) != 1 {
		return nil, fmt.Errorf("%d arguments, want 1", len(c.ArgTypes))
	}
	return &approximate{keys: newKeyer([]int{0}, c.ArgTypes, grouping, nil)}, nil
}

func (a *approximate) grow(n int) { a.groups = grown(a.groups, n) }

func (a *approximate) update(groups []int32, args []*batch.Column, rows []int32) {
	a.keys.of(&batch.Columns{N: args[0].Len, Cols: args, Sel: rows})
	for r, g := range groups {
		if !args[0].IsNull(at(rows, r)) {
			a.groups[g].add(a.keys.hashes[r])
		}
	}
}

func (a *approximate) merge(groups []int32, states []*batch.Column) {
	for r, g := range groups {
		a.groups[g].merge(states[0].Bytes(r))
	}
}

func (a *approximate) states(out []*batch.Column, from, to int) {
	var text []byte
	for g := range a.groups[from:to] {
		text = a.groups[from+g].append(text[:0])
		out[0].AppendBytes(text)
	}
}

func (a *approximate) results(out *batch.Column, from, to int) {
	for g := range a.groups[from:to] {
		batch.Append(out, a.groups[from+g].count())
	}
}

func (a *approximate) size() int {
	n := 0
	for g := range a.groups {
		n += 32 + 16*len(a.groups[g].few) + cap(a.groups[g].registers)
	}
	return n
}

func (a *approximate) clear() { a.groups = nil }
