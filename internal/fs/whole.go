package fs

import (
	"context"
	"fmt"
	"io"
)

// WriteFile writes a whole file and commits it.
func WriteFile(ctx context.Context, to FileSystem, at Location, data []byte) error {
	w, err := to.Create(ctx, at)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		w.Abort()
		return err
	}
	return w.Commit(ctx)
}

// ReadFile reads a whole file. One that is longer than limit is refused.
func ReadFile(ctx context.Context, from FileSystem, at Location, limit int64) (_ []byte, err error) {
	f, err := from.Open(ctx, at)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closing := f.Close(); err == nil {
			err = closing
		}
	}()
	if f.Size() > limit {
		return nil, Failed("read", at, -1, fmt.Errorf("it has %d bytes, want at most %d", f.Size(), limit))
	}
	data := make([]byte, f.Size())
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, Failed("read", at, -1, err)
	}
	return data, nil
}
