// Package unpack reads files that are compressed as a whole, which the endings of their
// names tell.
//
// It promises the bytes that were compressed, one after another and never held together,
// and an error that names the file where they end before they should. It never looks into
// a file to find out how it is compressed.
package unpack

import (
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/weirstream/weir/internal/coordinator/files/split"
)

// Open reads an open file, which it closes in the end. One whose name has no known ending
// is read as it is.
func Open(path string, f io.ReadCloser) (io.ReadCloser, error) {
	ending := split.Packed(path)
	if ending == "" {
		return f, nil
	}
	packed := &file{path: path, file: f}
	var err error
	if packed.Reader, packed.close, err = unpacked(ending, f); err != nil {
		return nil, errors.Join(packed.failed(err), f.Close())
	}
	return packed, nil
}

// unpacked reads what is compressed as an ending says.
func unpacked(ending string, f io.Reader) (io.Reader, func() error, error) {
	none := func() error { return nil }
	switch ending {
	case "gz", "gzip":
		r, err := gzip.NewReader(f)
		return r, none, err
	case "deflate":
		r, err := zlib.NewReader(f)
		return r, none, err
	case "bz2":
		return bzip2.NewReader(f), none, nil
	case "zst", "zstd":
		r, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, none, err
		}
		return r, func() error { r.Close(); return nil }, nil
	}
	return nil, none, errors.New("it cannot be read; there are gz, gzip, deflate, bz2, zst and zstd, and files that are not compressed")
}

// maxWindow bounds what is kept of a file to read the rest of it, in bytes: that of the
// highest level of compression.
const maxWindow = 128 << 20

// file is one that is unpacked as it is read.
type file struct {
	io.Reader
	path  string
	file  io.ReadCloser
	close func() error
}

// Read reads what was compressed.
func (f *file) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = f.failed(err)
	}
	return n, err
}

func (f *file) failed(err error) error {
	return fmt.Errorf("unpack %s, by the ending %s of its name: %w", f.path, split.Packed(f.path), err)
}

// Close closes the file.
func (f *file) Close() error { return errors.Join(f.close(), f.file.Close()) }
