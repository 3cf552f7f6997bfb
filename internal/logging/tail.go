package logging

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Tail returns the end of the file at path: whole lines, at most maxBytes of
// them. Only when the last line alone is longer is its end returned. A file
// that is being written may be read; what is added meanwhile is left out.
func Tail(path string, maxBytes int64) (content []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the end of a log: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the end of a log: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("read the end of a log: %s is a directory", path)
	}
	start := max(info.Size()-max(maxBytes, 0), 0)
	// The byte before tells whether the first line is whole.
	from := max(start-1, 0)
	content, err = io.ReadAll(io.NewSectionReader(file, from, info.Size()-from))
	if err != nil {
		return nil, fmt.Errorf("read the end of a log: %w", err)
	}
	if start == 0 {
		return content, nil
	}
	if cut := bytes.IndexByte(content, '\n'); cut >= 0 && cut+1 < len(content) {
		return content[cut+1:], nil
	}
	return content[min(1, len(content)):], nil
}
