package functions

import (
	crand "crypto/rand"
	"encoding/hex"
	"fmt"
	"math/rand/v2"

	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// chances are the functions whose answers nobody knows before.
func chances() []*expr.Function {
	random := bound("RAND", "arithmetic", "RAND([seed])", "A random number from 0 to 1; with a seed, always the same ones.", giving("?i", as(double)), randKernel)
	bounded := bound("RAND_INTEGER", "arithmetic", "RAND_INTEGER([seed, ]bound)", "A random whole number from 0 up to a bound.", giving("i?i", as(integer)), randIntKernel)
	uuid := bound("UUID", "arithmetic", "UUID()", "A random UUID.", giving("", always(types.CharOf(36).NotNull())), func(*expr.Bound) (expr.Kernel, error) { return failing(appendUUID), nil })
	for _, f := range []*expr.Function{random, bounded, uuid} {
		f.Volatility = expr.PerRow
	}
	return []*expr.Function{random, bounded, uuid}
}

// javaRandom is the sequence of java.util.Random of a seed.
type javaRandom struct{ seed int64 }

func newJavaRandom(seed int64) *javaRandom {
	return &javaRandom{(seed ^ 0x5DEECE66D) & (1<<48 - 1)}
}

func (r *javaRandom) next(bits int) int32 {
	r.seed = (r.seed*0x5DEECE66D + 0xB) & (1<<48 - 1)
	return int32(r.seed >> (48 - bits))
}

func (r *javaRandom) double() float64 {
	return float64(int64(r.next(26))<<27+int64(r.next(27))) / (1 << 53)
}

func (r *javaRandom) below(bound int32) int32 {
	v := r.next(31)
	if bound&(bound-1) == 0 {
		return int32(int64(bound) * int64(v) >> 31)
	}
	for u := v; ; u = r.next(31) {
		if v = u % bound; u-v+(bound-1) >= 0 {
			return v
		}
	}
}

// seeded gives the generator of a row: that of a constant seed goes on from row to row.
func seeded(b *expr.Bound, seeds bool) func(r row) *javaRandom {
	if !seeds {
		g := newJavaRandom(rand.Int64())
		return func(row) *javaRandom { return g }
	}
	if c := b.Constants[0]; c != nil && !c.IsNull(0) {
		g := newJavaRandom(intAt(c, 0))
		return func(row) *javaRandom { return g }
	}
	return func(r row) *javaRandom { return newJavaRandom(r.int(0)) }
}

func randKernel(b *expr.Bound) (expr.Kernel, error) {
	g := seeded(b, len(b.Args) == 1)
	return computing(func(r row) (float64, bool) { return g(r).double(), true }), nil
}

func randIntKernel(b *expr.Bound) (expr.Kernel, error) {
	g := seeded(b, len(b.Args) == 2)
	return trying(func(r row) (int32, bool, error) {
		most := r.int(len(r.args) - 1)
		if most <= 0 {
			return 0, false, fmt.Errorf("the bound of RAND_INTEGER is %d; allowed is 1 or more", most)
		}
		return g(r).below(int32(most)), true, nil
	}), nil
}

func appendUUID(dst []byte, _ row) ([]byte, bool, error) {
	var b [16]byte
	if _, err := crand.Read(b[:]); err != nil {
		return dst, false, fmt.Errorf("making a UUID: %w", err)
	}
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	for i, part := range [][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst, true, nil
}
