package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

const (
	// maxPage bounds a page, in bytes.
	maxPage = 512 << 20
	// maxPageValues bounds the values of a page, and of a dictionary.
	maxPageValues = 1 << 26
	// maxHead bounds the head of a page, which may have values of any length.
	maxHead = 16 << 20
	// ahead is how much of a column is read from the file at once.
	ahead = 128 << 10
)

// chunk reads the pages of one column in one row group, in order. It is used again for
// the next row group.
//
// Invariant: window is the file's bytes at windowAt; page and what the readers of levels
// and values hold are parts of window or of the codecs' memory, until the next page.
type chunk struct {
	file  *File
	n     *node
	meta  *format.ColumnMetaData
	group int

	at, end  int64 // of the pages that are not begun
	window   []byte
	windowAt int64
	codecs   codecs
	total    int64 // bytes that have been read from the file

	page   int64 // where the page begins
	left   int   // values of the page, NULLs included
	rest   int64 // values of the chunk behind the page
	first  bool  // no page has been read
	levels struct{ repetition, definition hybrid }
	values values
	dictionary
}

// begin takes the column of a row group.
func (c *chunk) begin(f *File, group int) error {
	c.file, c.group, c.meta = f, group, &f.groups[group].Columns[c.n.leaf].MetaData
	if path := f.groups[group].Columns[c.n.leaf].FilePath; path != "" {
		return c.failed(fmt.Errorf("its values are in another file, %s", path))
	}
	at, length := extent(c.meta)
	c.page = at
	if at < int64(len(magic)) || length < 0 || at > f.data || length > f.data-at {
		return c.failed(fmt.Errorf("its %d bytes are not between the file's head and its footer, which begins at byte %d", length, f.data))
	}
	if !known(c.meta.Codec) {
		_, err := c.codecs.decompress(c.meta.Codec, nil, 0)
		return c.failed(err)
	}
	c.at, c.end, c.window, c.windowAt = at, at+length, c.window[:0], at
	c.left, c.rest, c.first, c.count = 0, c.meta.NumValues, true, -1
	return nil
}

// failed says where the column cannot be read.
func (c *chunk) failed(err error) error {
	return fmt.Errorf("row group %d, column %s, byte %d: %w", c.group, c.n.path, c.page, err)
}

// next begins the next page of values.
func (c *chunk) next() error {
	for c.left == 0 {
		c.page = c.at
		if c.at >= c.end || c.rest <= 0 {
			return c.failed(errors.New("the column has fewer values than the row group has rows"))
		}
		if err := c.one(); err != nil {
			return c.failed(err)
		}
		c.first = false
	}
	return nil
}

// one reads a page, of whatever kind.
func (c *chunk) one() (err error) {
	var head format.PageHeader
	if err := c.head(&head); err != nil {
		return fmt.Errorf("the page's head cannot be read: %w", err)
	}
	size, whole := int(head.CompressedPageSize), int(head.UncompressedPageSize)
	if size < 0 || int64(size) > c.end-c.at {
		return fmt.Errorf("the page has %d bytes, and the column %d more", size, c.end-c.at)
	}
	if whole < 0 || whole > maxPage {
		return fmt.Errorf("the page has %d bytes, and %d are read at most", whole, maxPage)
	}
	text, err := c.bytes(size)
	if err != nil {
		return err
	}
	c.at += int64(size)
	if head.CRC != 0 && !c.file.unchecked && crc32.ChecksumIEEE(text) != uint32(head.CRC) {
		return errors.New("the page is damaged: its checksum is another")
	}
	defer recovered(&err)
	switch head.Type {
	case format.DictionaryPage:
		return c.dictionaryPage(&head, text, whole)
	case format.DataPage:
		return c.dataPage(&head, text, whole)
	case format.DataPageV2:
		return c.dataPageV2(&head, text, whole)
	case format.IndexPage:
		return nil
	}
	return fmt.Errorf("it is a page of kind %d, which is not known", head.Type)
}

// head reads the head of a page.
func (c *chunk) head(head *format.PageHeader) error {
	for want := 256; ; want *= 4 {
		text, err := c.bytes(int(min(int64(want), c.end-c.at)))
		if err != nil {
			return err
		}
		n, err := measure(text)
		if err == nil {
			c.at += int64(n)
			return decode(text[:n], head)
		}
		if !errors.Is(err, errShort) || len(text) < want || want > maxHead {
			return err
		}
	}
}

// bytes gives some of the file at c.at, without moving on.
func (c *chunk) bytes(n int) ([]byte, error) {
	from := int(c.at - c.windowAt)
	if from > len(c.window) {
		from, c.window, c.windowAt = 0, c.window[:0], c.at
	}
	if len(c.window)-from >= n {
		return c.window[from : from+n], nil
	}
	held := c.window[from:]
	size := int(min(int64(max(n, ahead)), c.end-c.at))
	if cap(c.window) < size {
		c.window = append(make([]byte, 0, size), held...)
	} else {
		c.window = c.window[:copy(c.window[:cap(c.window)], held)]
	}
	at := len(c.window)
	c.window = c.window[:size]
	c.windowAt = c.at
	read, err := c.file.in.ReadAt(c.window[at:], c.at+int64(at))
	c.total += int64(read)
	if read < size-at {
		c.window = c.window[:at+read]
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("the file ends early: it has become shorter")
		}
		return nil, err
	}
	return c.window[:n], nil
}

func (c *chunk) dictionaryPage(head *format.PageHeader, text []byte, whole int) error {
	d, ok := head.DictionaryPageHeader.Get()
	switch {
	case !ok:
		return errors.New("the head of a dictionary is missing")
	case !c.first:
		return errors.New("a dictionary comes after values")
	case d.Encoding != format.Plain && d.Encoding != placesOfOld:
		return fmt.Errorf("a dictionary is encoded as %s, which is not read", d.Encoding)
	case d.NumValues < 0 || d.NumValues > maxPageValues:
		return fmt.Errorf("a dictionary has %d values", d.NumValues)
	}
	text, err := c.codecs.decompress(c.meta.Codec, text, whole)
	if err != nil {
		return err
	}
	return c.load(c.n, text, int(d.NumValues))
}

func (c *chunk) dataPage(head *format.PageHeader, text []byte, whole int) error {
	d, ok := head.DataPageHeader.Get()
	if !ok {
		return errors.New("the head of a page of values is missing")
	}
	text, err := c.codecs.decompress(c.meta.Codec, text, whole)
	if err != nil {
		return err
	}
	if c.n.repeated > 0 {
		if text, err = prefixed(&c.levels.repetition, text, c.n.repeated, d.RepetitionLevelEncoding); err != nil {
			return err
		}
	}
	if c.n.definition > 0 {
		if text, err = prefixed(&c.levels.definition, text, c.n.definition, d.DefinitionLevelEncoding); err != nil {
			return err
		}
	}
	return c.open(text, d.Encoding, int(d.NumValues))
}

// prefixed takes levels with their length before them.
func prefixed(h *hybrid, text []byte, most int, encoding format.Encoding) ([]byte, error) {
	if encoding != format.RLE {
		return nil, fmt.Errorf("levels are encoded as %s, which is not read", encoding)
	}
	if len(text) < 4 {
		return nil, errEarly
	}
	n := binary.LittleEndian.Uint32(text)
	if uint64(n) > uint64(len(text)-4) {
		return nil, errEarly
	}
	*h = newHybrid(text[4:4+n], bits.Len(uint(most)))
	return text[4+n:], nil
}

func (c *chunk) dataPageV2(head *format.PageHeader, text []byte, whole int) error {
	d, ok := head.DataPageHeaderV2.Get()
	if !ok {
		return errors.New("the head of a page of values is missing")
	}
	r, l := int(d.RepetitionLevelsByteLength), int(d.DefinitionLevelsByteLength)
	if r < 0 || l < 0 || r > len(text) || l > len(text)-r || r+l > whole {
		return fmt.Errorf("its levels have %d and %d bytes, and the page %d", r, l, len(text))
	}
	c.levels.repetition = newHybrid(text[:r], bits.Len(uint(c.n.repeated)))
	c.levels.definition = newHybrid(text[r:r+l], bits.Len(uint(c.n.definition)))
	text = text[r+l:]
	if compressed, given := d.IsCompressed.Get(); (compressed || !given) && len(text) > 0 {
		var err error
		if text, err = c.codecs.decompress(c.meta.Codec, text, whole-r-l); err != nil {
			return err
		}
	}
	return c.open(text, d.Encoding, int(d.NumValues))
}

// open begins to read values.
func (c *chunk) open(text []byte, encoding format.Encoding, count int) error {
	if count < 0 || count > maxPageValues || int64(count) > c.rest {
		return fmt.Errorf("the page has %d values, and the column %d more", count, c.rest)
	}
	if err := c.values.open(c.n, &c.dictionary, text, encoding, count); err != nil {
		return err
	}
	c.left = count
	c.rest -= int64(count)
	return nil
}
