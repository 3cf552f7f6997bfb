package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/snapshot"
)

// A part is state of a checkpoint that is being written: what is small stays in
// memory, and travels with the acknowledgement into the metadata; as soon as it is
// larger all of it goes to a file.
type part struct {
	files  fs.FileSystem
	wanted func() error // fails when nobody wants the file any more
	at     fs.Location  // of the file; empty: there may be none
	most   int64        // bytes that may stay in memory
	file   fs.Writer    // nil: all is inline so far
	inline bytes.Buffer
	sum    hash.Hash32
	length int64
}

// maxInline is how much of one part travels with an acknowledgement where there are no
// files. It is Flink's limit of what the JobManager's memory takes.
const maxInline = 5 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// part begins state that goes to a file when it is larger than most bytes; without
// a file it may have maxInline.
func (c *checkpoints) part(at fs.Location, most int64) *part {
	p := &part{at: at, most: most, sum: crc32.New(castagnoli), wanted: c.wanted}
	if at == "" {
		p.most = maxInline
	} else {
		p.files = c.w.Files
	}
	return p
}

// Write appends.
func (p *part) Write(data []byte) (int, error) {
	if p.file == nil && p.length+int64(len(data)) > p.most {
		if err := p.create(); err != nil {
			return 0, err
		}
	}
	var n int
	var err error
	if p.file != nil {
		n, err = p.file.Write(data)
	} else {
		n, err = p.inline.Write(data)
	}
	p.sum.Write(data[:n])
	p.length += int64(n)
	return n, err
}

// create moves what there is to a file.
func (p *part) create() error {
	if p.at == "" {
		return fmt.Errorf("it has more than %d bytes, the most that the JobManager's memory takes: set %s to a directory", maxInline, config.CheckpointDirectory.Key)
	}
	if err := p.wanted(); err != nil {
		return err
	}
	file, err := p.files.Create(context.Background(), p.at)
	if err != nil {
		return err
	}
	if err := p.wanted(); err != nil {
		file.Abort()
		return err
	}
	p.file = file
	_, err = p.inline.WriteTo(file)
	return err
}

// errOver is why an attempt that has ended writes no part, errForgotten why one does not
// that the JobMaster has given up: it may have deleted all files of the job.
var (
	errOver      = errors.New("the task has ended")
	errForgotten = errors.New("the TaskManager has not been heard of for too long")
)

// wanted fails when what is written now would be of no use, and would stay.
func (c *checkpoints) wanted() error {
	switch {
	case c.over.Load():
		return errOver
	case c.w.forgotten():
		return errForgotten
	}
	return nil
}

func (p *part) abort() {
	if p.file != nil {
		p.file.Abort()
	}
}

// commit gives the file its name. Once the attempt has ended, or was given up, the JobMaster
// deletes what it had written: what comes only then is deleted here.
func (p *part) commit() (snapshot.Handle, error) {
	h := snapshot.Handle{Length: p.length, Checksum: p.sum.Sum32()}
	if p.file == nil {
		h.Inline = p.inline.Bytes()
		return h, nil
	}
	h.Location = p.at
	err := p.file.Commit(context.Background())
	if unwanted := p.wanted(); unwanted != nil {
		return h, errors.Join(unwanted, err, p.files.Delete(context.Background(), p.at))
	}
	return h, err
}
