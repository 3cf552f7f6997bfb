package keygroup

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// The constants of the hash: odd, with 32 bits set. They come from SHA-256 of
// "weir key group hash <i> <n>", the first n that fits. They are part of the
// format of checkpoints and never change.
const (
	mix0 = 0xf6d3c20369f42359
	mix1 = 0x809685af5f6f282b
	mix2 = 0x0966d06b544da6f7
	mix3 = 0xbb1619715935303f
)

// fold multiplies to 128 bits and xors the halves.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// finish mixes two words so that each bit of either moves every bit of the
// result. The second multiplication uses both halves of the first separately:
// folding them in between would lose half of what the first one mixed.
func finish(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return fold(lo^mix2, hi^mix3)
}

// HashInt returns the hash of an integer key. Signed integers are sign-extended
// first, so that a key keeps its hash when its type is widened.
func HashInt(x uint64) uint64 {
	return finish(x^mix0, mix1)
}

// HashBytes returns the hash of the bytes of a key. It is equal to HashString
// of the same bytes.
func HashBytes(b []byte) uint64 {
	return hashMemory(unsafe.Pointer(unsafe.SliceData(b)), len(b))
}

// HashString returns the hash of a string key.
func HashString(s string) uint64 {
	return hashMemory(unsafe.Pointer(unsafe.StringData(s)), len(s))
}

// hashMemory hashes n bytes at p. Up to 16 bytes are two words that overlap
// where n is not a multiple; longer keys fold 16 bytes at a time into one lane,
// or 32 into two while more than 64 remain, and end with the last 16 bytes.
func hashMemory(p unsafe.Pointer, n int) uint64 {
	var a, b uint64
	lane := uint64(mix0)
	switch {
	case n > 16:
		if n <= 32 {
			lane = fold(word(p, 0)^mix1, word(p, 8)^lane)
		} else {
			lane = hashLong(p, n)
		}
		a, b = word(p, n-16), word(p, n-8)
	case n >= 8:
		a, b = word(p, 0), word(p, n-8)
	case n >= 4:
		a, b = half(p, 0), half(p, n-4)
	case n > 0:
		a = uint64(octet(p, 0))<<16 | uint64(octet(p, n>>1))<<8 | uint64(octet(p, n-1))
	}
	return finish(a^mix1^uint64(n), b^lane)
}

// hashLong folds all but the last 1 to 16 bytes of more than 16. Its caller does
// the same for up to 32 without the call.
func hashLong(p unsafe.Pointer, n int) uint64 {
	lane, i := uint64(mix0), 0
	if n > 64 {
		other := uint64(mix3)
		for ; n-i > 64; i += 32 {
			lane = fold(word(p, i)^mix1, word(p, i+8)^lane)
			other = fold(word(p, i+16)^mix2, word(p, i+24)^other)
		}
		lane ^= bits.RotateLeft64(other, 17)
	}
	for ; n-i > 16; i += 16 {
		lane = fold(word(p, i)^mix1, word(p, i+8)^lane)
	}
	return lane
}

// The readers below take little-endian words on every machine, so that the
// hash does not depend on it. The caller knows that the bytes are there.

func word(p unsafe.Pointer, i int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, i))[:])
}

func half(p unsafe.Pointer, i int) uint64 {
	return uint64(binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(p, i))[:]))
}

func octet(p unsafe.Pointer, i int) byte {
	return *(*byte)(unsafe.Add(p, i))
}
