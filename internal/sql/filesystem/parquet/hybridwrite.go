package parquet

import "encoding/binary"

// appendHybrid writes numbers of width bits as hybrid reads them: eight or more that are
// alike as a run, and others packed, eight at a time.
func appendHybrid[T uint8 | uint32](dst []byte, all []T, width int) []byte {
	for i := 0; i < len(all); {
		if n := alike(all[i:]); n >= 8 {
			dst = appendRun(dst, uint32(all[i]), n, width)
			i += n
			continue
		}
		end := i
		for end < len(all) && alike(all[end:]) < 8 {
			end += 8 // as many as a group has
		}
		groups := (end - i) / 8
		dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
		dst = appendPacked(dst, all[i:min(end, len(all))], groups*8, width)
		i = end
	}
	return dst
}

// alike is how many numbers at the beginning are the same.
func alike[T uint8 | uint32](all []T) int {
	n := 1
	for n < len(all) && all[n] == all[0] {
		n++
	}
	return n
}

func appendRun(dst []byte, v uint32, n, width int) []byte {
	dst = binary.AppendUvarint(dst, uint64(n)<<1)
	for range (width + 7) / 8 {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

// appendPacked writes numbers bit by bit, and then zeros until there are n.
func appendPacked[T uint8 | uint32](dst []byte, all []T, n, width int) []byte {
	var held uint64
	bits := 0
	for i := range n {
		if i < len(all) {
			held |= uint64(all[i]) << bits
		}
		for bits += width; bits >= 8; bits -= 8 {
			dst = append(dst, byte(held))
			held >>= 8
		}
	}
	return dst
}
