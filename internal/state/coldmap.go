package state

import (
	"encoding/binary"
	"iter"
	"unsafe"

	"github.com/weirstream/weir/internal/state/memory"
)

// What a map has on the disk is, for each owner, all its entries in their order:
//
//	length uvarint, inner key, when touched i64, value │ …
//
// A value is its memory, whose size is known, or its length, uvarint, and its bytes.

// anySize is the size of values that tell their own.
const anySize = -1

// appendColdEntry appends an entry, whose value is of this size.
func appendColdEntry(dst []byte, inner string, value []byte, at int64, size int) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(inner))), inner...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(at))
	if size == anySize {
		dst = binary.AppendUvarint(dst, uint64(len(value)))
	}
	return append(dst, value...)
}

// eachColdEntry calls f with the entries of an owner; they alias the argument.
func eachColdEntry(entries []byte, size int, f func(inner string, value []byte, at int64)) {
	for len(entries) > 0 {
		n, used := binary.Uvarint(entries)
		inner, rest := entries[used:used+int(n)], entries[used+int(n):]
		at := int64(binary.LittleEndian.Uint64(rest))
		rest = rest[8:]
		length := size
		if size == anySize {
			n, used := binary.Uvarint(rest)
			length, rest = int(n), rest[used:]
		}
		f(text(inner), rest[:length], at)
		entries = rest[length:]
	}
}

// coldSize is the size of the map's values on the disk.
func (s *Map[UK, UV]) coldSize() int {
	if s.cells == nil {
		return anySize
	}
	return int(unsafe.Sizeof(*new(UV)))
}

// owner returns the current owner of entries, all of which are then in memory.
func (s *Map[UK, UV]) owner() *memory.Key {
	owner := s.in.composed()
	if s.cold.groups != nil {
		s.fetch(owner)
	}
	return owner
}

// fetch brings what the disk has of an owner back into memory.
func (s *Map[UK, UV]) fetch(owner *memory.Key) {
	g := s.cold.use(owner.Hash)
	if g == nil || s.len(owner) > 0 {
		return
	}
	entries, ok := s.cold.take(g, owner)
	if !ok {
		return
	}
	eachColdEntry(entries, s.coldSize(), func(inner string, value []byte, at int64) {
		s.keyBuf = append(append(s.keyBuf[:0], owner.Bytes...), inner...)
		k := memory.Key{Bytes: text(s.keyBuf), Hash: memory.HashWithin(owner.Hash, text(s.keyBuf))}
		if s.cells == nil {
			s.blobs.Put(owner, &k, value, at)
			return
		}
		e, _ := s.cells.Upsert(owner, &k)
		e.Value, e.At = load[UV](value), at
	})
}

// len returns the number of entries of an owner in memory.
func (s *Map[UK, UV]) len(owner *memory.Key) int {
	if s.cells != nil {
		return s.cells.Len(owner)
	}
	return s.blobs.Len(owner)
}

// allExpired says whether all entries of an owner on the disk have expired.
func (s *Map[UK, UV]) allExpired(entries []byte) bool {
	all := true
	eachColdEntry(entries, s.coldSize(), func(_ string, _ []byte, at int64) { all = all && s.life.expired(at) })
	return all
}

// evict puts a group on the disk, but for owners that were used of late.
func (s *Map[UK, UV]) evict(group int) {
	owners := 0
	if s.cells != nil {
		owners = s.cells.Owners(group)
	} else {
		owners = s.blobs.Owners(group)
	}
	if owners == 0 {
		return
	}
	stays, end := s.cold.sift(group, owners)
	var entries []byte
	if s.cells != nil {
		s.cells.Sift(group, func(owner *memory.Key, all iter.Seq2[string, *memory.Entry[UV]]) bool {
			if stays(owner.Hash) {
				return true
			}
			entries = entries[:0]
			for key, e := range all {
				entries = appendColdEntry(entries, key[len(owner.Bytes):], bytesOf(&e.Value), e.At, len(bytesOf(&e.Value)))
			}
			s.cold.put(group, owner, entries)
			return false
		}, nil)
	} else {
		s.blobs.Sift(group, func(owner *memory.Key, each func(f func(key string, value []byte, at int64))) bool {
			if stays(owner.Hash) {
				return true
			}
			entries = entries[:0]
			each(func(key string, value []byte, at int64) {
				entries = appendColdEntry(entries, key[len(owner.Bytes):], value, at, anySize)
			})
			s.cold.put(group, owner, entries)
			return false
		})
	}
	end()
}
