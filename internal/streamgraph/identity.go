package streamgraph

import (
	"encoding/binary"
	"math/bits"

	"github.com/weirstream/weir/internal/ident"
)

// hashes gives every node its operator id: of its UID, or of its place in the
// program, computed as Flink does, so that equal programs have equal ids here and
// there. The names and functions of nodes do not enter.
func hashes(g *Graph) map[*Node]ident.OperatorID {
	ids := map[*Node]ident.OperatorID{}
	var queue []*Node
	queued := map[*Node]bool{}
	for _, n := range g.Nodes {
		if len(n.In) == 0 {
			queue, queued[n] = append(queue, n), true
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if !inputsHashed(n, ids) {
			queued[n] = false // comes again behind the input that is missing
			continue
		}
		ids[n] = hashNode(g, n, ids)
		for _, e := range n.Out {
			if !queued[e.To] {
				queue, queued[e.To] = append(queue, e.To), true
			}
		}
	}
	return ids
}

func inputsHashed(n *Node, ids map[*Node]ident.OperatorID) bool {
	for _, e := range n.In {
		if _, ok := ids[e.From]; !ok {
			return false
		}
	}
	return true
}

// hashNode hashes the UID, or the number of nodes hashed before, once for the
// node and once for each edge that chains to it, mixed with the inputs' hashes.
func hashNode(g *Graph, n *Node, ids map[*Node]ident.OperatorID) ident.OperatorID {
	if n.UID != "" {
		return ident.OperatorID{ID: murmur3([]byte(n.UID))}
	}
	place := binary.LittleEndian.AppendUint32(nil, uint32(len(ids)))
	data := place
	for _, e := range n.Out {
		if chainable(g, e) {
			data = append(data, place[:4]...)
		}
	}
	id := murmur3(data)
	for _, e := range n.In {
		from := ids[e.From]
		for i := range id {
			id[i] = id[i]*37 ^ from.ID[i]
		}
	}
	return ident.OperatorID{ID: id}
}

const (
	murmur1 = 0x87c37b91114253d5
	murmur2 = 0x4cf5ad432745937f
)

// murmur3 is the 128-bit MurmurHash3 for 64-bit machines with seed 0.
func murmur3(data []byte) ident.ID {
	var h1, h2 uint64
	n := uint64(len(data))
	for ; len(data) >= 16; data = data[16:] {
		h1 ^= murmurMix1(binary.LittleEndian.Uint64(data))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= murmurMix2(binary.LittleEndian.Uint64(data[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], data)
	h1 ^= murmurMix1(binary.LittleEndian.Uint64(tail[:]))
	h2 ^= murmurMix2(binary.LittleEndian.Uint64(tail[8:]))
	h1, h2 = h1^n, h2^n
	h1 += h2
	h2 += h1
	h1, h2 = murmurFinish(h1), murmurFinish(h2)
	h1 += h2
	h2 += h1
	var id ident.ID
	binary.LittleEndian.PutUint64(id[:], h1)
	binary.LittleEndian.PutUint64(id[8:], h2)
	return id
}

func murmurMix1(k uint64) uint64 { return bits.RotateLeft64(k*murmur1, 31) * murmur2 }

func murmurMix2(k uint64) uint64 { return bits.RotateLeft64(k*murmur2, 33) * murmur1 }

func murmurFinish(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
