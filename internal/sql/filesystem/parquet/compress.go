package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// compressor compresses pages. The memory of what it gives is its own until the next
// page.
type compressor struct {
	codec  format.CompressionCodec
	out    []byte
	buffer bytes.Buffer
	zstd   *zstd.Encoder
	gzip   *gzip.Writer
	brotli *brotli.Writer
	lz4    lz4.Compressor
}

func (c *compressor) compress(text []byte) (_ []byte, err error) {
	switch c.codec {
	case format.Uncompressed:
		return text, nil
	case format.Snappy:
		c.out = snappy.Encode(c.out[:cap(c.out)], text)
		return c.out, nil
	case format.Zstd:
		if c.zstd == nil {
			if c.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false)); err != nil {
				return nil, err
			}
		}
		c.out = c.zstd.EncodeAll(text, c.out[:0])
		return c.out, nil
	case format.Lz4Raw:
		c.out = sized(c.out, lz4.CompressBlockBound(len(text)))
		n, err := c.lz4.CompressBlock(text, c.out)
		return c.out[:n], err
	case format.Lz4:
		c.out = sized(c.out, 8+lz4.CompressBlockBound(len(text)))
		n, err := c.lz4.CompressBlock(text, c.out[8:])
		binary.BigEndian.PutUint32(c.out, uint32(len(text)))
		binary.BigEndian.PutUint32(c.out[4:], uint32(n))
		return c.out[:8+n], err
	case format.Gzip:
		if c.gzip == nil {
			c.gzip = gzip.NewWriter(nil)
		}
		return c.stream(text, c.gzip)
	case format.Brotli:
		if c.brotli == nil {
			c.brotli = brotli.NewWriterLevel(nil, 1)
		}
		return c.stream(text, c.brotli)
	}
	return nil, fmt.Errorf("codec %s is not written", c.codec)
}

// stream compresses by a writer that goes on over pages.
func (c *compressor) stream(text []byte, w interface {
	Reset(to io.Writer)
	Write(text []byte) (int, error)
	Close() error
}) ([]byte, error) {
	c.buffer.Reset()
	w.Reset(&c.buffer)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err := w.Close()
	return c.buffer.Bytes(), err
}
