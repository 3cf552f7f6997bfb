package snapshot

import (
	"encoding/binary"
	"hash/crc32"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/snapshot/pb"
)

// The form of a metadata file, integers little-endian:
//
//	 0  magic
//	 8  version of what follows
//	12  length of the payload
//	20  CRC-32C of bytes 0 to 19
//	24  payload: a weir.snapshot.Metadata
//	 n  CRC-32C of the payload
const (
	magic         = "WEIRSNAP"
	formatVersion = 1
	headerLength  = 24
	trailerLength = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C that handles and sections carry.
func Checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// here begins a location that is relative to the directory of the metadata.
const here = "./"

// Encode gives the bytes of the metadata file that will lie in dir. Files below
// dir are referred to relative to it, so that the directory can be moved.
func Encode(m *Metadata, dir fs.Location) []byte {
	e := &encoder{dir: dir, numbers: map[fs.Location]uint32{}}
	message := e.metadata(m)
	message.Files = e.files
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	invariant.Check(err == nil, "the metadata of checkpoint %d cannot be encoded: %v", m.Checkpoint, err)
	return frame(payload)
}

// frame puts header and trailer around a payload.
func frame(payload []byte) []byte {
	data := make([]byte, 0, headerLength+len(payload)+trailerLength)
	data = append(data, magic...)
	data = binary.LittleEndian.AppendUint32(data, formatVersion)
	data = binary.LittleEndian.AppendUint64(data, uint64(len(payload)))
	data = binary.LittleEndian.AppendUint32(data, Checksum(data))
	data = append(data, payload...)
	return binary.LittleEndian.AppendUint32(data, Checksum(payload))
}

// An encoder numbers the files as they are met.
type encoder struct {
	dir     fs.Location
	files   []*pb.File
	numbers map[fs.Location]uint32 // looked up, never ranged
}

// file gives the number of a handle, counted from 1; 0 for none.
func (e *encoder) file(h Handle) uint32 {
	if h.IsZero() {
		return 0
	}
	if n := e.numbers[h.Location]; n != 0 {
		return n
	}
	f := &pb.File{Location: string(h.Location), Inline: h.Inline, Length: h.Length, Checksum: h.Checksum}
	if below, ok := h.Location.Under(e.dir); ok && e.dir != "" {
		f.Location = here + below
	}
	e.files = append(e.files, f)
	n := uint32(len(e.files))
	if h.Location != "" {
		e.numbers[h.Location] = n
	}
	return n
}

func (e *encoder) metadata(m *Metadata) *pb.Metadata {
	out := &pb.Metadata{
		Checkpoint: m.Checkpoint, Job: m.Job.String(), JobName: m.JobName, Kind: int32(m.Kind), Format: int32(m.Format),
		Unaligned: m.Unaligned, TriggeredMillis: m.Triggered.UnixMilli(), Version: m.Version,
	}
	for i := range m.Operators {
		out.Operators = append(out.Operators, e.operator(&m.Operators[i]))
	}
	return out
}

func (e *encoder) operator(o *OperatorState) *pb.Operator {
	out := &pb.Operator{
		Id: o.ID.String(), Uid: o.UID, Name: o.Name, Vertex: o.Vertex, Parallelism: int32(o.Parallelism),
		MaxParallelism: int32(o.MaxParallelism), Finished: o.Finished, Coordinator: e.file(o.Coordinator),
	}
	for i := range o.Subtasks {
		s := &o.Subtasks[i]
		subtask := &pb.Subtask{Finished: s.Finished}
		var last numbered
		subtask.Inputs, last = e.channels(s.Inputs, last)
		subtask.Outputs, _ = e.channels(s.Outputs, last)
		for j := range s.Keyed {
			subtask.Keyed = append(subtask.Keyed, e.keyed(&s.Keyed[j]))
		}
		for _, l := range s.Lists {
			offsets, lengths := extents(l.Elements)
			subtask.Lists = append(subtask.Lists, &pb.List{
				Name: l.Name, Mode: int32(l.Mode), Schema: l.Schema, File: e.file(l.File), Offsets: offsets, Lengths: lengths,
			})
		}
		out.Subtasks = append(out.Subtasks, subtask)
	}
	return out
}

func (e *encoder) keyed(k *KeyedState) *pb.Keyed {
	out := &pb.Keyed{First: int32(k.First), Last: int32(k.Last), Backend: k.Backend, Key: k.Key}
	for _, s := range k.States {
		out.States = append(out.States, &pb.State{
			Name: s.Name, Kind: s.Kind, Namespace: s.Namespace, UserKey: s.UserKey, Value: s.Value,
			TtlMillis: s.TTL.Milliseconds(), Rows: s.Rows, Bytes: s.Bytes,
		})
	}
	for _, f := range k.Files {
		out.Files = append(out.Files, &pb.KeyedFile{Name: f.Name, File: e.file(f.Handle)})
	}
	for _, s := range k.Sections {
		out.Groups = append(out.Groups, int32(s.Group))
		out.SectionFiles = append(out.SectionFiles, int32(s.File))
		out.Offsets = append(out.Offsets, s.Offset)
		out.Lengths = append(out.Lengths, s.Length)
		out.Checksums = append(out.Checksums, s.Checksum)
	}
	return out
}

// numbered is a handle with its number.
type numbered struct {
	Handle
	number uint32
}

// channels encodes channels, which often have their bytes in common with the one
// before.
func (e *encoder) channels(channels []ChannelState, last numbered) ([]*pb.Channel, numbered) {
	var out []*pb.Channel
	for _, c := range channels {
		offsets, lengths := extents(c.Buffers)
		if !c.File.same(last.Handle) {
			last = numbered{c.File, e.file(c.File)}
		}
		out = append(out, &pb.Channel{Gate: int32(c.Gate), Channel: int32(c.Channel), Shared: c.Shared, File: last.number, Checksum: c.Checksum, Offsets: offsets, Lengths: lengths})
	}
	return out, last
}

func extents(all []Extent) (offsets, lengths []int64) {
	for _, e := range all {
		offsets, lengths = append(offsets, e.Offset), append(lengths, e.Length)
	}
	return offsets, lengths
}
