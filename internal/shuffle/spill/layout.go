package spill

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/weirstream/weir/internal/shuffle"
)

// A block begins with a header of headerSize bytes, little endian:
//
//	length   uint32   of the bytes that follow, 1 to maxBlock
//	records  uint32
//	sub      uint32
//	checksum uint32   CRC-32C of the header before it and of the bytes
const (
	headerSize   = 16
	checksumFrom = 12
	maxBlock     = 256 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type header struct {
	length, records, sub int
	checksum             uint32
}

// seal writes the header of a block whose bytes are already behind the room for
// it.
func seal(block []byte, sub, records int) {
	binary.LittleEndian.PutUint32(block, uint32(len(block)-headerSize))
	binary.LittleEndian.PutUint32(block[4:], uint32(records))
	binary.LittleEndian.PutUint32(block[8:], uint32(sub))
	binary.LittleEndian.PutUint32(block[checksumFrom:], checksum(block))
}

// checksum is the checksum of a whole block.
func checksum(block []byte) uint32 {
	return crc32.Update(crc32.Checksum(block[:checksumFrom], castagnoli), castagnoli, block[headerSize:])
}

// parseHeader reads a header, of which nothing is known yet.
func parseHeader(b []byte) header {
	_ = b[headerSize-1]
	return header{
		length: int(binary.LittleEndian.Uint32(b)), records: int(binary.LittleEndian.Uint32(b[4:])),
		sub: int(binary.LittleEndian.Uint32(b[8:])), checksum: binary.LittleEndian.Uint32(b[checksumFrom:]),
	}
}

// verify says what is wrong with a whole block of a range of subpartitions.
func verify(block []byte, subs shuffle.Range) error {
	h := parseHeader(block)
	if got := checksum(block); got != h.checksum {
		return fmt.Errorf("checksum %08x of a block of %d bytes, want %08x", got, h.length, h.checksum)
	}
	if h.sub < subs.First || h.sub > subs.Last {
		return fmt.Errorf("a block of subpartition %d where %s should be", h.sub, subs)
	}
	return nil
}

// An index has one entry for each subpartition and one for the end of the last,
// of entrySize bytes each, little endian:
//
//	offset   uint64   in the file, where the subpartition begins
//	checksum uint32   CRC-32C of the offset, the region's and the subpartition's number
const entrySize = 12

func appendEntry(dst []byte, region, sub int, offset int64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(offset))
	return binary.LittleEndian.AppendUint32(dst, entryChecksum(region, sub, offset))
}

func entryChecksum(region, sub int, offset int64) uint32 {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], uint64(offset))
	binary.LittleEndian.PutUint64(b[8:], uint64(region))
	binary.LittleEndian.PutUint64(b[16:], uint64(sub))
	return crc32.Checksum(b[:], castagnoli)
}

// parseEntry reads an entry of an index. The offset must lie between low and
// high.
func parseEntry(b []byte, region, sub int, low, high int64) (offset int64, err error) {
	_ = b[entrySize-1]
	offset = int64(binary.LittleEndian.Uint64(b))
	want := binary.LittleEndian.Uint32(b[8:])
	if got := entryChecksum(region, sub, offset); got != want {
		return 0, fmt.Errorf("checksum %08x of the index of region %d at subpartition %d, want %08x", got, region, sub, want)
	}
	if offset < low || offset > high {
		return 0, fmt.Errorf("the index of region %d says that subpartition %d begins at byte %d, the region is %d to %d", region, sub, offset, low, high)
	}
	return offset, nil
}
