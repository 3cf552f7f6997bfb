package worker

import (
	"bytes"
	"context"
	"fmt"
	"hash"
	"hash/crc32"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/snapshot"
)

// A part is a file of a checkpoint, or bytes that travel with the acknowledgement.
type part struct {
	at     fs.Location
	file   fs.Writer // nil: inline
	inline bytes.Buffer
	sum    hash.Hash32
	length int64
}

func (c *checkpoints) create(at fs.Location) (*part, error) {
	p := &part{at: at, sum: crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	if at == "" {
		return p, nil
	}
	var err error
	p.file, err = c.w.Files.Create(context.Background(), at)
	return p, err
}

// maxInline is how much of one part travels with an acknowledgement. It is Flink's
// limit of what the JobManager's memory takes.
const maxInline = 5 << 20

// Write appends.
func (p *part) Write(data []byte) (int, error) {
	var n int
	var err error
	switch {
	case p.file != nil:
		n, err = p.file.Write(data)
	case p.length+int64(len(data)) > maxInline:
		return 0, fmt.Errorf("it has more than %d bytes, the most that the JobManager's memory takes: set %s to a directory", maxInline, config.CheckpointDirectory.Key)
	default:
		n, err = p.inline.Write(data)
	}
	p.sum.Write(data[:n])
	p.length += int64(n)
	return n, err
}

func (p *part) abort() {
	if p.file != nil {
		p.file.Abort()
	}
}

func (p *part) commit() (snapshot.Handle, error) {
	h := snapshot.Handle{Location: p.at, Length: p.length, Checksum: p.sum.Sum32()}
	if p.file == nil {
		h.Inline = p.inline.Bytes()
		return h, nil
	}
	return h, p.file.Commit(context.Background())
}
