package memory

import (
	"strings"
	"unsafe"

	"github.com/weirstream/weir/internal/state/keygroup"
)

// BatchSize is the number of keys that are hashed, touched and then probed
// together. It is large enough that the misses of many keys overlap and small
// enough that what was touched is still in the first-level cache.
const BatchSize = batchSize

const batchSize = 256

// Keys turns keys of one type into what tables keep. One goroutine owns it.
type Keys[K comparable] struct {
	hasher    *keygroup.Hasher[K]
	kind      keygroup.Kind
	appendKey func(dst []byte, k *K) []byte
	batch     *scratch    // of batches; made by the first
	encoder   *encoder[K] // if keys are encoded
}

// scratch is what the operations on batches need besides the table.
type scratch struct {
	hashes [batchSize]uint64
	ints   [batchSize]uint64 // keys widened to 64 bits
}

// encoder is what it takes to encode keys.
type encoder[K comparable] struct {
	key     K                 // the key being encoded
	buf     []byte            // its bytes, or those of a batch
	ends    [batchSize]int    // where each key of a batch ends in buf
	strings [batchSize]string // the keys of a batch; they alias buf
}

// NewKeys returns the keys of type K. encode is that of Options.
func NewKeys[K comparable](encode func(dst []byte, k *K) []byte) (*Keys[K], error) {
	hasher, err := keygroup.NewHasher(encode)
	if err != nil {
		return nil, err
	}
	k := &Keys[K]{hasher: hasher, kind: hasher.Kind(), appendKey: encode}
	if k.kind == keygroup.Encoded {
		k.encoder = new(encoder[K])
	}
	return k, nil
}

// Kind returns the kind of K.
func (k *Keys[K]) Kind() keygroup.Kind { return k.kind }

// Hash returns the hash of key, which is that of keygroup.Hasher.
func (k *Keys[K]) Hash(key K) uint64 { return k.hasher.Hash(key) }

// A Key is a key as tables keep it. Tables of integers look at Word, others at
// Bytes.
type Key struct {
	Hash  uint64
	Word  uint64
	Bytes string
}

// Set makes to what tables keep of key, whose hash this is. The bytes of a key that
// is encoded are valid until the next is.
func (k *Keys[K]) Set(to *Key, key K, hash uint64) {
	to.Hash = hash
	switch k.kind {
	case keygroup.String:
		to.Bytes = *(*string)(unsafe.Pointer(&key))
	case keygroup.Encoded:
		to.Bytes = k.encode(key)
	default:
		to.Word = k.kind.Load(unsafe.Pointer(&key))
	}
}

// A Batch is up to BatchSize keys as tables keep them, with their hashes. It is
// valid until the next is made.
type Batch struct {
	hashes  []uint64
	words   []uint64
	strings []string
}

// Hashes returns the hashes of the keys.
func (b Batch) Hashes() []uint64 { return b.hashes }

// Len returns the number of keys.
func (b Batch) Len() int { return len(b.hashes) }

// Key returns one key.
func (b Batch) Key(i int) Key {
	k := Key{Hash: b.hashes[i]}
	if b.words != nil {
		k.Word = b.words[i]
	} else {
		k.Bytes = b.strings[i]
	}
	return k
}

// Batch returns what tables keep of up to BatchSize keys.
func (k *Keys[K]) Batch(keys []K) Batch {
	if k.batch == nil {
		k.batch = new(scratch)
	}
	b := Batch{hashes: k.batch.hashes[:len(keys)]}
	switch k.kind {
	case keygroup.String:
		b.strings = unsafe.Slice((*string)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys))
	case keygroup.Encoded:
		b.strings = k.encodeBatch(keys)
	default:
		b.words = k.words(keys)
		for i, x := range b.words {
			b.hashes[i] = keygroup.HashInt(x)
		}
		return b
	}
	for i, s := range b.strings {
		b.hashes[i] = keygroup.HashString(s)
	}
	return b
}

// encode returns the canonical bytes of a key, which are valid until the next key
// is encoded.
func (k *Keys[K]) encode(key K) string {
	e := k.encoder
	e.key = key
	e.buf = k.appendKey(e.buf[:0], &e.key)
	return alias(e.buf)
}

// words returns integer keys widened to 64 bits: themselves if they have 64
// already, or the scratch of the batch.
func (k *Keys[K]) words(keys []K) []uint64 {
	if k.kind == keygroup.Int64 || k.kind == keygroup.Uint64 {
		return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(keys))), len(keys))
	}
	words := k.batch.ints[:len(keys)]
	for i := range keys {
		words[i] = k.kind.Load(unsafe.Pointer(&keys[i]))
	}
	return words
}

// encodeBatch returns the canonical bytes of the keys, which are valid until
// the next key is encoded.
func (k *Keys[K]) encodeBatch(keys []K) []string {
	e := k.encoder
	e.buf = e.buf[:0]
	for i := range keys {
		e.buf = k.appendKey(e.buf, &keys[i])
		e.ends[i] = len(e.buf)
	}
	start := 0
	for i, end := range e.ends[:len(keys)] {
		e.strings[i] = alias(e.buf[start:end])
		start = end
	}
	return e.strings[:len(keys)]
}

// forget drops references to keys that were given.
func (k *Keys[K]) forget() {
	if k.encoder != nil {
		*k.encoder = encoder[K]{buf: k.encoder.buf}
	}
}

func (k *Keys[K]) memory() int {
	bytes := int(unsafe.Sizeof(*k))
	if k.batch != nil {
		bytes += int(unsafe.Sizeof(*k.batch))
	}
	if k.encoder != nil {
		bytes += int(unsafe.Sizeof(*k.encoder)) + cap(k.encoder.buf)
	}
	return bytes
}

// alias returns b as a string without copying it.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Of returns the key that Set made this of, for integers and strings. It does not
// alias m.
func (k *Keys[K]) Of(m Key) (key K) {
	if k.kind == keygroup.String {
		*(*string)(unsafe.Pointer(&key)) = strings.Clone(m.Bytes)
	} else {
		k.kind.Store(unsafe.Pointer(&key), m.Word)
	}
	return key
}
