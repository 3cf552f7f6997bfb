package snapshot

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/snapshot/pb"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// Decode reads the bytes of the metadata file at a location. It fails with a
// *CorruptError; whatever the bytes are, what it returns is consistent: each
// number that refers to something does, ranges are in order and extents lie in
// their files.
func Decode(data []byte, at fs.Location) (*Metadata, error) {
	payload, err := unframe(data, at)
	if err != nil {
		return nil, err
	}
	d := &decoder{dir: at.Parent()}
	var message pb.Metadata
	if err := proto.Unmarshal(payload, &message); err != nil {
		return nil, &CorruptError{Location: at, Offset: headerLength, What: "the payload cannot be read", Err: err}
	}
	m, err := d.metadata(&message)
	if err != nil {
		return nil, &CorruptError{Location: at, Offset: headerLength, What: "the payload contradicts itself", Err: err}
	}
	return m, nil
}

// unframe checks header and trailer and gives what is between them.
func unframe(data []byte, at fs.Location) ([]byte, error) {
	bad := func(offset int, format string, args ...any) ([]byte, error) {
		return nil, &CorruptError{Location: at, Offset: int64(offset), What: fmt.Sprintf(format, args...)}
	}
	if n := min(len(data), len(magic)); string(data[:n]) != magic[:n] {
		return bad(0, "it does not begin as the metadata of a checkpoint or savepoint of Weir does: it is a file of something else")
	}
	if len(data) < headerLength {
		return bad(len(data), "it is cut short: it ends within its header of %d bytes", headerLength)
	}
	if sum := binary.LittleEndian.Uint32(data[20:]); sum != Checksum(data[:20]) {
		return bad(len(magic), "the header is damaged: bytes 0 to 19 do not have their checksum")
	}
	if version := binary.LittleEndian.Uint32(data[8:]); version != formatVersion {
		return bad(8, "it is of version %d, and this program reads version %d", version, formatVersion)
	}
	length := binary.LittleEndian.Uint64(data[12:])
	switch have := uint64(len(data) - headerLength); {
	case have < trailerLength || length > have-trailerLength:
		return bad(len(data), "it is cut short: want %d bytes", length+headerLength+trailerLength)
	case length < have-trailerLength:
		return bad(headerLength+int(length)+trailerLength, "there are %d bytes after its end", have-trailerLength-length)
	}
	payload := data[headerLength : headerLength+length]
	if sum := binary.LittleEndian.Uint32(data[headerLength+length:]); sum != Checksum(payload) {
		return bad(headerLength, "it is damaged: bytes %d to %d do not have their checksum", headerLength, headerLength+length-1)
	}
	return payload, nil
}

// A decoder resolves the numbers of files.
type decoder struct {
	dir   fs.Location
	files []Handle
}

func (d *decoder) metadata(in *pb.Metadata) (*Metadata, error) {
	m := &Metadata{
		Checkpoint: in.Checkpoint, JobName: in.JobName, Kind: Kind(in.Kind), Format: Format(in.Format),
		Unaligned: in.Unaligned, Triggered: time.UnixMilli(in.TriggeredMillis).UTC(), Version: in.Version,
	}
	if in.Kind < 0 || in.Kind > int32(SyncSavepoint) || in.Format < 0 || in.Format > int32(Native) {
		return nil, fmt.Errorf("kind %d, format %d", in.Kind, in.Format)
	}
	if err := m.Job.UnmarshalText([]byte(in.Job)); err != nil {
		return nil, fmt.Errorf("job: %w", err)
	}
	for i, f := range in.Files {
		h, err := d.handle(f)
		if err != nil {
			return nil, fmt.Errorf("file %d: %w", i+1, err)
		}
		d.files = append(d.files, h)
	}
	seen := map[ident.OperatorID]bool{}
	for _, o := range in.Operators {
		operator, err := d.operator(o)
		if err == nil && seen[operator.ID] {
			err = fmt.Errorf("it is there twice")
		}
		if err != nil {
			return nil, fmt.Errorf("operator %q: %w", o.Id, err)
		}
		seen[operator.ID] = true
		m.Operators = append(m.Operators, operator)
	}
	return m, nil
}

func (d *decoder) handle(f *pb.File) (Handle, error) {
	h := Handle{Inline: f.Inline, Length: f.Length, Checksum: f.Checksum}
	switch {
	case f.Length < 0:
		return h, fmt.Errorf("its length is %d", f.Length)
	case f.Location == "":
		if int64(len(f.Inline)) != f.Length || Checksum(f.Inline) != f.Checksum {
			return h, fmt.Errorf("its %d bytes do not have their length %d and checksum", len(f.Inline), f.Length)
		}
	case len(f.Inline) > 0:
		return h, fmt.Errorf("it has a location and is inline")
	case strings.HasPrefix(f.Location, here):
		h.Location = d.dir.Join(strings.TrimPrefix(f.Location, here))
	default:
		at, err := fs.Parse(f.Location)
		if err != nil {
			return h, err
		}
		h.Location = at
	}
	return h, nil
}

// file resolves a number that must be one of a file.
func (d *decoder) file(number uint32) (Handle, error) {
	if number < 1 || int(number) > len(d.files) {
		return Handle{}, fmt.Errorf("file %d of %d", number, len(d.files))
	}
	return d.files[number-1], nil
}

func (d *decoder) operator(in *pb.Operator) (OperatorState, error) {
	o := OperatorState{
		UID: in.Uid, Name: in.Name, Vertex: in.Vertex, Finished: in.Finished,
		Parallelism: int(in.Parallelism), MaxParallelism: int(in.MaxParallelism),
	}
	if err := o.ID.UnmarshalText([]byte(in.Id)); err != nil {
		return o, err
	}
	if o.Parallelism < 1 || o.MaxParallelism < o.Parallelism || o.MaxParallelism > keygroup.Limit {
		return o, fmt.Errorf("parallelism %d, maximum %d", o.Parallelism, o.MaxParallelism)
	}
	want := o.Parallelism
	if o.Finished {
		want = 0
	}
	if len(in.Subtasks) != want {
		return o, fmt.Errorf("it has %d subtasks, want %d", len(in.Subtasks), want)
	}
	if in.Coordinator != 0 {
		h, err := d.file(in.Coordinator)
		if err != nil {
			return o, fmt.Errorf("coordinator: %w", err)
		}
		o.Coordinator = h
	}
	for i, s := range in.Subtasks {
		subtask, err := d.subtask(s, o.MaxParallelism)
		if err != nil {
			return o, fmt.Errorf("subtask %d: %w", i, err)
		}
		o.Subtasks = append(o.Subtasks, subtask)
	}
	return o, nil
}

func (d *decoder) subtask(in *pb.Subtask, groups int) (SubtaskState, error) {
	s := SubtaskState{Finished: in.Finished}
	for _, k := range in.Keyed {
		keyed, err := d.keyed(k, groups)
		if err != nil {
			return s, fmt.Errorf("key groups %d to %d: %w", k.First, k.Last, err)
		}
		s.Keyed = append(s.Keyed, keyed)
	}
	for _, l := range in.Lists {
		if l.Mode < 0 || l.Mode > int32(Gathered) {
			return s, fmt.Errorf("list %q: mode %d", l.Name, l.Mode)
		}
		list := ListState{Name: l.Name, Mode: Mode(l.Mode), Schema: l.Schema}
		var err error
		if list.File, list.Elements, err = d.runs(l.File, l.Offsets, l.Lengths); err != nil {
			return s, fmt.Errorf("list %q: %w", l.Name, err)
		}
		s.Lists = append(s.Lists, list)
	}
	var err error
	if s.Inputs, err = d.channels(in.Inputs); err != nil {
		return s, fmt.Errorf("input %w", err)
	}
	if s.Outputs, err = d.channels(in.Outputs); err != nil {
		return s, fmt.Errorf("output %w", err)
	}
	return s, nil
}

func (d *decoder) channels(in []*pb.Channel) ([]ChannelState, error) {
	var out []ChannelState
	for _, c := range in {
		channel := ChannelState{Gate: int(c.Gate), Channel: int(c.Channel), Shared: c.Shared, Checksum: c.Checksum}
		var err error
		if channel.File, channel.Buffers, err = d.runs(c.File, c.Offsets, c.Lengths); err != nil {
			return nil, fmt.Errorf("%d channel %d: %w", c.Gate, c.Channel, err)
		}
		if c.Gate < 0 || c.Channel < 0 {
			return nil, fmt.Errorf("%d channel %d", c.Gate, c.Channel)
		}
		out = append(out, channel)
	}
	return out, nil
}

// runs reads extents of a file. Where they have no bytes, there need be no file.
func (d *decoder) runs(file uint32, offsets, lengths []int64) (h Handle, all []Extent, err error) {
	if file != 0 {
		if h, err = d.file(file); err != nil {
			return h, nil, err
		}
	}
	if len(offsets) != len(lengths) {
		return h, nil, fmt.Errorf("%d offsets and %d lengths", len(offsets), len(lengths))
	}
	for i := range offsets {
		if !within(h, offsets[i], lengths[i]) {
			return h, nil, fmt.Errorf("%d bytes at %d of a file of %d", lengths[i], offsets[i], h.Length)
		}
		all = append(all, Extent{offsets[i], lengths[i]})
	}
	return h, all, nil
}

func within(h Handle, offset, length int64) bool {
	return offset >= 0 && length >= 0 && offset <= h.Length && length <= h.Length-offset
}

func (d *decoder) keyed(in *pb.Keyed, groups int) (KeyedState, error) {
	k := KeyedState{First: int(in.First), Last: int(in.Last), Backend: in.Backend, Key: in.Key}
	if k.First < 0 || k.Last < k.First || k.Last >= groups {
		return k, fmt.Errorf("there are %d groups", groups)
	}
	for _, s := range in.States {
		k.States = append(k.States, StateInfo{
			Name: s.Name, Kind: s.Kind, Namespace: s.Namespace, UserKey: s.UserKey, Value: s.Value,
			TTL: time.Duration(s.TtlMillis) * time.Millisecond, Rows: s.Rows, Bytes: s.Bytes,
		})
	}
	for _, f := range in.Files {
		h, err := d.file(f.File)
		if err != nil {
			return k, err
		}
		k.Files = append(k.Files, KeyedFile{Name: f.Name, Handle: h})
	}
	n := len(in.Groups)
	if len(in.SectionFiles) != n || len(in.Offsets) != n || len(in.Lengths) != n || len(in.Checksums) != n {
		return k, fmt.Errorf("the sections of %d groups are not complete", n)
	}
	last := k.First
	for i := range n {
		s := Section{
			Group: int(in.Groups[i]), File: int(in.SectionFiles[i]), Offset: in.Offsets[i], Length: in.Lengths[i], Checksum: in.Checksums[i],
		}
		switch {
		case s.Group < last || s.Group > k.Last:
			return k, fmt.Errorf("group %d after %d", s.Group, last)
		case s.File < 0 || s.File >= len(k.Files):
			return k, fmt.Errorf("group %d is in file %d of %d", s.Group, s.File, len(k.Files))
		case !within(k.Files[s.File].Handle, s.Offset, s.Length):
			return k, fmt.Errorf("group %d: %d bytes at %d of a file of %d", s.Group, s.Length, s.Offset, k.Files[s.File].Length)
		}
		last = s.Group
		k.Sections = append(k.Sections, s)
	}
	return k, nil
}
