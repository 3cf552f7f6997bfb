package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// codecs decompresses pages. The memory of what it gives is its own until the next page.
//
// The sizes are those that a page is said to have: what a codec can make of so few bytes
// bounds what is allocated.
type codecs struct {
	out    []byte
	zstd   *zstd.Decoder
	gzip   *gzip.Reader
	brotli *brotli.Reader
}

// known reports whether a codec is read and written.
func known(c format.CompressionCodec) bool {
	switch c {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4, format.Lz4Raw:
		return true
	}
	return false
}

// decompress gives the size bytes of a page.
func (c *codecs) decompress(codec format.CompressionCodec, text []byte, size int) ([]byte, error) {
	switch codec {
	case format.Uncompressed:
		if len(text) != size {
			return nil, fmt.Errorf("the page has %d bytes, and is said to have %d", len(text), size)
		}
		return text, nil
	case format.Snappy:
		n, err := snappy.DecodedLen(text)
		if err != nil || n != size {
			return nil, wrongSize(n, size, err)
		}
		if size > 64*len(text) { // a copy of 64 bytes has 2 at least
			return nil, errTooLarge
		}
		return snappy.Decode(c.room(size), text)
	case format.Lz4Raw:
		return c.lz4(c.room(min(size, 256*len(text))), text, size)
	case format.Lz4:
		return c.hadoop(text, size)
	case format.Zstd:
		return c.zstandard(text, size)
	case format.Gzip:
		if c.gzip == nil {
			c.gzip = new(gzip.Reader)
		}
		if err := c.gzip.Reset(bytes.NewReader(text)); err != nil {
			return nil, err
		}
		return c.read(c.gzip, size)
	case format.Brotli:
		if c.brotli == nil {
			c.brotli = new(brotli.Reader)
		}
		if err := c.brotli.Reset(bytes.NewReader(text)); err != nil {
			return nil, err
		}
		return c.read(c.brotli, size)
	}
	return nil, fmt.Errorf("it is compressed by codec %s (%d), and there are none, snappy, gzip, brotli, lz4, lz4_raw and zstd", codec, codec)
}

var errTooLarge = errors.New("the page is said to be larger than its bytes can make it")

func wrongSize(got, want int, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("the page has %d bytes, and is said to have %d", got, want)
}

// room is memory for a page.
func (c *codecs) room(size int) []byte {
	if cap(c.out) < size {
		c.out = make([]byte, size, size+size/4)
	}
	return c.out[:size]
}

// read reads a page from a stream, as far as it goes: memory grows with what is there.
func (c *codecs) read(from io.Reader, size int) ([]byte, error) {
	out := c.out[:0]
	for len(out) < size {
		if len(out) == cap(out) {
			grown := make([]byte, len(out), min(size, max(2*cap(out), 64<<10)))
			copy(grown, out)
			out = grown
		}
		n, err := from.Read(out[len(out):min(cap(out), size)])
		out = out[:len(out)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	c.out = out
	if len(out) != size {
		return nil, wrongSize(len(out), size, nil)
	}
	return out, nil
}

func (c *codecs) lz4(dst, text []byte, size int) ([]byte, error) {
	n, err := lz4.UncompressBlock(text, dst)
	if err != nil || n != size {
		return nil, wrongSize(n, size, err)
	}
	return dst, nil
}

// hadoop reads what old programs call LZ4: blocks with their sizes before them. Others
// call a plain block so.
func (c *codecs) hadoop(text []byte, size int) ([]byte, error) {
	dst := c.room(min(size, 256*len(text)))
	at, rest := 0, text
	for len(rest) >= 8 && at < len(dst) {
		whole, part := int(binary.BigEndian.Uint32(rest)), int(binary.BigEndian.Uint32(rest[4:]))
		if part > len(rest)-8 || whole > len(dst)-at {
			break
		}
		n, err := lz4.UncompressBlock(rest[8:8+part], dst[at:at+whole])
		if err != nil || n != whole {
			break
		}
		at, rest = at+n, rest[8+part:]
	}
	if at == size && len(rest) == 0 {
		return dst, nil
	}
	return c.lz4(dst, text, size)
}

func (c *codecs) zstandard(text []byte, size int) ([]byte, error) {
	if c.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage), zstd.WithDecoderMaxWindow(maxPage))
		if err != nil {
			return nil, err
		}
		c.zstd = d
	}
	var head zstd.Header
	if err := head.Decode(text); err != nil {
		return nil, err
	}
	if head.HasFCS && head.FrameContentSize > uint64(size) {
		return nil, fmt.Errorf("the page has %d bytes, and is said to have %d", head.FrameContentSize, size)
	}
	out, err := c.zstd.DecodeAll(text, c.out[:0])
	if err != nil || len(out) != size {
		return nil, wrongSize(len(out), size, err)
	}
	c.out = out
	return out, nil
}

// close ends what the codecs run.
func (c *codecs) close() {
	if c.zstd != nil {
		c.zstd.Close()
		c.zstd = nil
	}
}
