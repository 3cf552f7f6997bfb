package parquet

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// pageRows bounds the values of a page, so that a reader can skip some.
const pageRows = 20_000

// column writes the values of one leaf in one row group.
//
// Invariant: page is what the row group's finished pages are, compressed, each behind its
// head; the levels and values are those of the page that is being filled. If there is a
// dictionary, places are the same values as plain.
type column struct {
	n      *node
	w      *Writing
	pages  []byte
	whole  int64 // bytes of the pages before they were compressed
	count  int   // pages
	values int64 // NULLs included, of the row group

	repetition, definition []uint8
	plain                  []byte
	filled                 int // values in plain

	indexed bool // the dictionary is still used
	indexes int  // pages that use it
	texts   map[string]uint32
	numbers map[uint64]uint32
	entries []byte // the dictionary, plain
	places  []uint32

	statistics
}

func newColumn(n *node, w *Writing) *column {
	c := &column{n: n, w: w}
	c.begin()
	return c
}

// begin begins a row group.
func (c *column) begin() {
	c.pages, c.whole, c.count, c.values = c.pages[:0], 0, 0, 0
	c.indexed, c.indexes, c.entries = c.w.Dictionary && c.n.physical != format.Boolean, 0, c.entries[:0]
	clear(c.texts)
	clear(c.numbers)
	c.statistics.begin(c.n)
}

// size is about how many bytes the row group has.
func (c *column) size() int64 {
	return int64(len(c.pages) + len(c.plain) + len(c.entries) + len(c.repetition) + len(c.definition))
}

// level notes a value, or that there is none.
func (c *column) level(repetition, definition uint8) {
	c.values++
	if c.n.repeated > 0 {
		c.repetition = append(c.repetition, repetition)
	}
	if c.n.definition > 0 {
		c.definition = append(c.definition, definition)
		if int(definition) < c.n.definition {
			c.nulls++
		}
	}
}

// The values.

func (c *column) int32(v int32) {
	c.plain = binary.LittleEndian.AppendUint32(c.plain, uint32(v))
	c.note(int64(v))
	c.number(uint64(uint32(v)), 4)
}

func (c *column) int64(v int64) {
	c.plain = binary.LittleEndian.AppendUint64(c.plain, uint64(v))
	c.note(v)
	c.number(uint64(v), 8)
}

func (c *column) float32(v float32) {
	b := math.Float32bits(v)
	c.plain = binary.LittleEndian.AppendUint32(c.plain, b)
	c.noteFloat(float64(v))
	c.number(uint64(b), 4)
}

func (c *column) float64(v float64) {
	b := math.Float64bits(v)
	c.plain = binary.LittleEndian.AppendUint64(c.plain, b)
	c.noteFloat(v)
	c.number(b, 8)
}

// bool collects a byte for each, which are packed with the page.
func (c *column) bool(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	c.plain = append(c.plain, b)
	c.filled++
}

func (c *column) text(v []byte) {
	c.plain = binary.LittleEndian.AppendUint32(c.plain, uint32(len(v)))
	c.plain = append(c.plain, v...)
	c.noteText(v)
	c.bytes(v)
}

func (c *column) fixed(v []byte) {
	c.plain = append(c.plain, v...)
	c.noteText(v)
	c.bytes(v)
}

// number gives a value of fixed size its place in the dictionary: the last bytes of plain.
func (c *column) number(v uint64, size int) {
	c.filled++
	if !c.indexed {
		return
	}
	if c.numbers == nil {
		c.numbers = map[uint64]uint32{}
	}
	place, ok := c.numbers[v]
	if !ok {
		place = uint32(len(c.numbers))
		c.numbers[v] = place
		c.entry(size)
	}
	c.places = append(c.places, place)
}

func (c *column) bytes(v []byte) {
	c.filled++
	if !c.indexed {
		return
	}
	if c.texts == nil {
		c.texts = map[string]uint32{}
	}
	place, ok := c.texts[string(v)]
	if !ok {
		place = uint32(len(c.texts))
		c.texts[string(v)] = place
		size := len(v)
		if c.n.physical == format.ByteArray {
			size += 4
		}
		c.entry(size)
	}
	c.places = append(c.places, place)
}

// entry adds the last value to the dictionary, which is given up when it is large.
func (c *column) entry(size int) {
	c.entries = append(c.entries, c.plain[len(c.plain)-size:]...)
	if int64(len(c.entries)) > c.w.DictionaryPage {
		c.indexed = false
	}
}

// distinct is how many values the dictionary has.
func (c *column) distinct() int { return len(c.texts) + len(c.numbers) }

// full reports whether the page is to be ended before the next row.
func (c *column) full() bool {
	return int64(len(c.plain)) >= c.w.Page || c.filled >= pageRows || len(c.definition) >= 4*pageRows
}

// trialPages is after how many pages a dictionary must have shown that values repeat.
const trialPages = 4

// idle reports whether the dictionary saves nothing: its entries and the page of places, if
// that is all there is, or the values so far, of which few repeat.
func (c *column) idle(placed int, last bool) bool {
	if c.indexes == 0 && last {
		return placed+len(c.entries) >= len(c.plain)
	}
	return c.indexes == trialPages && c.distinct() > (trialPages+1)*c.filled/4*3
}

// end ends the page, which may be the row group's last.
func (c *column) end(to *compressor, last bool) error {
	n := c.filled
	if c.n.definition > 0 {
		n = len(c.definition)
	}
	if n == 0 {
		return nil
	}
	var text []byte
	text = appendLevels(text, c.repetition, c.n.repeated)
	text = appendLevels(text, c.definition, c.n.definition)
	before := len(text)
	encoding := format.Plain
	switch {
	case c.n.physical == format.Boolean:
		text = appendPacked(text, c.plain, (len(c.plain)+7)/8*8, 1)
	case len(c.places) == c.filled && c.indexed && c.filled > 0:
		encoding = format.RLEDictionary
		width := bits.Len(uint(c.distinct() - 1))
		text = appendHybrid(append(text, byte(width)), c.places, width)
		if c.idle(len(text)-before, last) {
			c.indexed, encoding = false, format.Plain
			text = append(text[:before], c.plain...)
			break
		}
		c.indexes++
	default:
		text = append(text, c.plain...)
	}
	head := format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{NumValues: int32(n), Encoding: encoding,
		DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE, Statistics: format.Statistics{NullCount: int64(n - c.filled)}})}
	var err error
	c.pages, err = c.page(c.pages, &head, text, to)
	c.count++
	c.repetition, c.definition, c.plain, c.places, c.filled = c.repetition[:0], c.definition[:0], c.plain[:0], c.places[:0], 0
	return err
}

// appendLevels writes levels behind their length.
func appendLevels(dst []byte, levels []uint8, most int) []byte {
	if most == 0 {
		return dst
	}
	at := len(dst)
	dst = appendHybrid(append(dst, 0, 0, 0, 0), levels, bits.Len(uint(most)))
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// page appends a page with its head.
func (c *column) page(dst []byte, head *format.PageHeader, text []byte, to *compressor) ([]byte, error) {
	if len(text) > maxPage {
		return nil, fmt.Errorf("a page has %d bytes, and %d are written at most", len(text), maxPage)
	}
	packed, err := to.compress(text)
	if err != nil {
		return nil, err
	}
	head.UncompressedPageSize, head.CompressedPageSize = int32(len(text)), int32(len(packed))
	head.CRC = int32(crc32.ChecksumIEEE(packed))
	first, err := encode(head)
	c.whole += int64(len(first) + len(text))
	return append(append(dst, first...), packed...), err
}

// encode writes a structure of the file's metadata.
func encode(v any) ([]byte, error) {
	var p thrift.CompactProtocol
	return thrift.Marshal(&p, v)
}

// flush ends the row group, and appends the column, which begins at a byte of the file.
func (c *column) flush(dst []byte, at int64, to *compressor) ([]byte, format.ColumnChunk, error) {
	if err := c.end(to, true); err != nil {
		return nil, format.ColumnChunk{}, err
	}
	meta := format.ColumnMetaData{Type: c.n.physical, Encoding: []format.Encoding{format.RLE}, PathInSchema: c.n.names, Codec: to.codec, NumValues: c.values,
		DataPageOffset: at, Statistics: c.statistics.encoded()}
	from := len(dst)
	if c.indexes > 0 {
		head := format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(c.distinct()), Encoding: format.Plain})}
		var err error
		if dst, err = c.page(dst, &head, c.entries, to); err != nil {
			return nil, format.ColumnChunk{}, err
		}
		meta.DictionaryPageOffset, meta.DataPageOffset = at, at+int64(len(dst)-from)
		meta.Encoding = append(meta.Encoding, format.RLEDictionary)
		meta.EncodingStats = append(meta.EncodingStats, format.PageEncodingStats{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1},
			format.PageEncodingStats{PageType: format.DataPage, Encoding: format.RLEDictionary, Count: int32(c.indexes)})
	}
	if plain := c.count - c.indexes; plain > 0 {
		meta.EncodingStats = append(meta.EncodingStats, format.PageEncodingStats{PageType: format.DataPage, Encoding: format.Plain, Count: int32(plain)})
	}
	meta.Encoding = append(meta.Encoding, format.Plain)
	dst = append(dst, c.pages...)
	meta.TotalCompressedSize, meta.TotalUncompressedSize = int64(len(dst)-from), c.whole
	c.begin()
	return dst, format.ColumnChunk{FileOffset: at, MetaData: meta}, nil
}
