package snapshot

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// A maker draws snapshots whose groups and elements can be told apart.
type maker struct {
	t       *rapid.T
	files   int
	element int64
	// inFlight: with records in flight.
	inFlight bool
}

const testDirectory = fs.Location("mem:/ckpt/chk-7")

func operatorID(n int) ident.OperatorID { return ident.OperatorID{ID: ident.ID{0xaa, byte(n)}} }

func (m *maker) handle(length int64) Handle {
	m.files++
	h := Handle{Length: length, Checksum: uint32(m.files)}
	if length > 1<<20 {
		h.Location = testDirectory.Join(fmt.Sprintf("f%d", m.files))
		return h
	}
	switch rapid.IntRange(0, 2).Draw(m.t, "place") {
	case 0:
		h.Location = testDirectory.Join(fmt.Sprintf("f%d", m.files))
	case 1:
		h.Location = fs.Location(fmt.Sprintf("mem:/ckpt/shared/f:%d", m.files))
	default:
		h.Inline = make([]byte, length)
		if length == 0 {
			h.Inline = nil
			h.Location = testDirectory.Join(fmt.Sprintf("empty%d", m.files))
		}
		h.Checksum = Checksum(h.Inline)
	}
	return h
}

func (m *maker) metadata() *Metadata {
	out := &Metadata{
		Checkpoint: rapid.Int64Range(1, 1<<40).Draw(m.t, "checkpoint"), Job: ident.JobID{ID: ident.ID{1, 2}}, JobName: "job",
		Kind: Kind(rapid.IntRange(0, 2).Draw(m.t, "kind")), Format: Format(rapid.IntRange(0, 1).Draw(m.t, "format")),
		Triggered: time.UnixMilli(1_700_000_000_123).UTC(), Version: "test",
	}
	for i := range rapid.IntRange(1, 3).Draw(m.t, "operators") {
		out.Operators = append(out.Operators, m.operator(i))
	}
	return out
}

func (m *maker) operator(n int) OperatorState {
	o := OperatorState{ID: operatorID(n), Name: fmt.Sprintf("op%d", n), Vertex: "v", Parallelism: rapid.IntRange(1, 5).Draw(m.t, "parallelism"), MaxParallelism: 16}
	if rapid.IntRange(0, 9).Draw(m.t, "finished") == 0 {
		o.Finished = true
		return o
	}
	if rapid.Bool().Draw(m.t, "coordinated") {
		o.Coordinator = m.handle(3)
	}
	isKeyed := rapid.Bool().Draw(m.t, "keyed")
	names := []string{"s1", "s2"}[:rapid.IntRange(0, 2).Draw(m.t, "split lists")]
	for i := range o.Parallelism {
		var s SubtaskState
		if isKeyed {
			first, last := keygroup.Range(i, o.Parallelism, o.MaxParallelism)
			s.Keyed = []KeyedState{m.keyed(first, last)}
		}
		for _, name := range names {
			s.Lists = append(s.Lists, m.list(name, Split))
		}
		s.Lists = append(s.Lists, m.list("u", Union))
		broadcast := m.list("b", Broadcast)
		s.Lists = append(s.Lists, broadcast)
		if m.inFlight {
			s.Inputs, s.Outputs = m.channels(), m.channels()
		}
		o.Subtasks = append(o.Subtasks, s)
	}
	return o
}

// keyed has in each section's Offset the group's number.
func (m *maker) keyed(first, last int) KeyedState {
	k := KeyedState{First: first, Last: last, Key: "string",
		States: []StateInfo{{Name: "count", Kind: "VALUE", Value: "int64", TTL: time.Minute, Rows: 3, Bytes: 24}}}
	for range rapid.IntRange(1, 3).Draw(m.t, "files") {
		k.Files = append(k.Files, KeyedFile{Name: "f", Handle: m.handle(1000)})
	}
	for g := first; g <= last; g++ {
		if rapid.IntRange(0, 3).Draw(m.t, "empty") > 0 {
			k.Sections = append(k.Sections, Section{Group: g, File: rapid.IntRange(0, len(k.Files)-1).Draw(m.t, "file"), Offset: int64(g), Length: 7, Checksum: 9})
		}
	}
	return k
}

// channels have their file in common, or each one of its own.
func (m *maker) channels() (all []ChannelState) {
	file := m.handle(100)
	for i := range rapid.IntRange(0, 3).Draw(m.t, "channels") {
		if rapid.Bool().Draw(m.t, "own file") {
			file = m.handle(100)
		}
		all = append(all, ChannelState{Gate: 1, Channel: i, File: file, Buffers: []Extent{{Offset: int64(i), Length: 1}}})
	}
	return all
}

// list has in each element's Offset a number of its own.
func (m *maker) list(name string, mode Mode) ListState {
	l := ListState{Name: name, Mode: mode, Schema: "string", File: m.handle(1 << 40)}
	for range rapid.IntRange(0, 5).Draw(m.t, "elements") {
		m.element++
		l.Elements = append(l.Elements, Extent{Offset: m.element, Length: 2})
	}
	return l
}
