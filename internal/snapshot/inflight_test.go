package snapshot

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/state/keygroup"
)

// twoTasks are a writer and a reader, of which the snapshot has the given subtasks.
func twoTasks(writers, readers []SubtaskState, max int) *Metadata {
	return &Metadata{Operators: []OperatorState{
		{ID: operatorID(0), Name: "writer", Parallelism: len(writers), MaxParallelism: max, Subtasks: writers},
		{ID: operatorID(1), Name: "reader", Parallelism: len(readers), MaxParallelism: max, Subtasks: readers},
	}}
}

func twoTargets(writers, readers, max int, route Route) []Target {
	return []Target{
		{ID: operatorID(0), Task: ident.VertexID{ID: ident.ID{1}}, Parallelism: writers, MaxParallelism: max},
		{ID: operatorID(1), Task: ident.VertexID{ID: ident.ID{2}}, Parallelism: readers, MaxParallelism: max,
			Inputs: []Input{{From: operatorID(0), Route: route}}},
	}
}

// buffers are a channel's, one byte each, at a place of a file.
func buffers(gate, channel int, places ...int64) ChannelState {
	c := ChannelState{Gate: gate, Channel: channel, File: Handle{Location: "mem:/f", Length: 100}, Checksum: uint32(places[0])}
	for _, at := range places {
		c.Buffers = append(c.Buffers, Extent{Offset: at, Length: 1})
	}
	return c
}

// flown is what each subtask of the reader processes: with a star what it shares.
func flown(t *testing.T, m *Metadata, targets []Target) string {
	t.Helper()
	a, err := Assign(m, targets, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	var subtasks []string
	for _, s := range a.Operators[1].Subtasks {
		var words []string
		for _, c := range s.Inputs {
			word := ""
			for _, b := range c.Buffers {
				word += fmt.Sprint(b.Offset)
			}
			if c.Shared {
				word += "*"
			}
			words = append(words, word)
		}
		subtasks = append(subtasks, strings.Join(words, " "))
	}
	return strings.Join(subtasks, " | ")
}

// Two writers had records on their way to two readers: those at 1 and 2 had come to the
// first reader, from either writer, that at 3 to the second, and those from 4 on had
// not left. Wherever they go, those of one channel stay together.
func TestWhoGetsWhatWasInFlight(t *testing.T) {
	m := twoTasks(
		[]SubtaskState{{Outputs: []ChannelState{buffers(0, 0, 4), buffers(0, 1, 5)}}, {Outputs: []ChannelState{buffers(0, 1, 6, 7)}}},
		[]SubtaskState{{Inputs: []ChannelState{buffers(0, 0, 1), buffers(0, 1, 2)}}, {Inputs: []ChannelState{buffers(0, 1, 3)}}}, 12)
	for _, test := range []struct {
		writers, readers, max int
		route                 Route
		want                  string
	}{
		{2, 2, 12, ByKey, "1 2 4 | 3 5 67"},
		{2, 2, 12, ByRecord, "1 2 4 | 3 5 67"},
		{5, 2, 12, Anywhere, "1 2 4 | 3 5 67"},
		{1, 1, 12, ByKey, "1 2 3 4 5 67"},
		{1, 1, 12, Anywhere, "1 2 3 4 5 67"},
		{2, 3, 12, Anywhere, "1 2 4 | 3 5 67 | "},
		{2, 4, 12, ByKey, "1* 2* 4* | 1* 2* 4* | 3* 5* 67* | 3* 5* 67*"},
		{2, 3, 12, ByKey, "1* 2* 4* | 1* 2* 3* 4* 5* 67* | 3* 5* 67*"},
		{2, 3, 12, ByRecord, "1* 2* 3* 4* 5* 67* | 1* 2* 3* 4* 5* 67* | 1* 2* 3* 4* 5* 67*"},
		{2, 2, 16, ByKey, "1* 2* 3* 4* 5* 67* | 1* 2* 3* 4* 5* 67*"},
	} {
		if got := flown(t, m, twoTargets(test.writers, test.readers, test.max, test.route)); got != test.want {
			t.Errorf("%d writers, %d readers, maximum %d, route %d: %s, want %s", test.writers, test.readers, test.max, test.route, got, test.want)
		}
	}
	m.Operators[1].Finished, m.Operators[1].Subtasks = true, nil
	if got := flown(t, m, twoTargets(2, 2, 12, Anywhere)); got != " | " {
		t.Errorf("to readers that had finished: %s", got)
	}
}

// Of what lies in the metadata each gets its own bytes alone.
func TestInlineChannelsAreCut(t *testing.T) {
	data := []byte("aabbbc")
	file := Handle{Inline: data, Length: 6, Checksum: Checksum(data)}
	at := func(channel int, extents ...Extent) ChannelState {
		return ChannelState{Channel: channel, File: file, Buffers: extents}
	}
	m := twoTasks([]SubtaskState{{Outputs: []ChannelState{at(1, Extent{5, 1})}}}, []SubtaskState{{Inputs: []ChannelState{at(0, Extent{0, 2})}}, {Inputs: []ChannelState{at(0, Extent{2, 1}, Extent{3, 2})}}}, 8)
	a, err := Assign(m, twoTargets(1, 2, 8, ByKey), Rules{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"aa", "b bb c"} {
		var words []string
		var bytes int64
		for _, c := range a.Operators[1].Subtasks[i].Inputs {
			all, err := c.Cut(c.File.Inline, 0)
			if err != nil || c.File.Checksum != Checksum(c.File.Inline) {
				t.Error(c, err)
			}
			for _, b := range all {
				words = append(words, string(b))
			}
			bytes += c.File.Length
		}
		if got := strings.Join(words, " "); got != want || int(bytes) != len(strings.ReplaceAll(want, " ", "")) {
			t.Errorf("subtask %d: %q in %d bytes, want %q", i, got, bytes, want)
		}
	}
}

// TestEveryRecordInFlightIsProcessedOnce plays jobs whose channels hold records of
// random key groups and that are restored at random parallelisms again and again: each
// record is kept by one subtask, which owns its group if it was sent by key, and those
// of one channel and group keep their order.
func TestEveryRecordInFlightIsProcessedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const max = 16
		route := Route(rapid.IntRange(0, 1).Draw(t, "route"))
		writers, readers := rapid.IntRange(1, 4).Draw(t, "writers"), rapid.IntRange(1, 5).Draw(t, "readers")
		w, r := make([]SubtaskState, writers), make([]SubtaskState, readers)
		var want []record
		files := map[fs.Location][]byte{}
		for p := range w {
			for s := range r {
				for _, side := range []*[]ChannelState{&r[s].Inputs, &w[p].Outputs} {
					n := rapid.IntRange(0, 3).Draw(t, "buffers")
					if n == 0 {
						continue
					}
					c := ChannelState{Channel: p, File: Handle{Location: fs.Location(fmt.Sprint("mem:/", len(files)))}}
					if side == &w[p].Outputs {
						c.Channel = s
					}
					var data []byte
					for range n {
						first, last := 0, max-1
						if route == ByKey {
							first, last = keygroup.Range(s, readers, max)
						}
						one := record{uint32(p*10 + s), uint32(len(want)), uint32(rapid.IntRange(first, last).Draw(t, "group"))}
						want = append(want, one)
						c.Buffers = append(c.Buffers, Extent{int64(len(data)), 12})
						data = one.append(data)
					}
					c.File.Length, c.File.Checksum, c.Checksum = int64(len(data)), Checksum(data), Checksum(data)
					files[c.File.Location] = data
					*side = append(*side, c)
				}
			}
		}
		p := rapid.IntRange(1, 7).Draw(t, "parallelism")
		a, err := Assign(twoTasks(w, r, max), twoTargets(rapid.IntRange(1, 4).Draw(t, "new writers"), p, max, route), Rules{})
		if err != nil {
			t.Fatal(err)
		}
		var got []record
		last := map[[2]uint32]uint32{} // by channel and group
		for i, s := range a.Operators[1].Subtasks {
			low, high := keygroup.Range(i, p, max)
			for _, c := range s.Inputs {
				all, err := c.Cut(files[c.File.Location], 0)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range all {
					one := parseRecord(b)
					own := int(one.group) >= low && int(one.group) <= high
					if c.Shared && !own {
						continue
					}
					if route == ByKey && !own {
						t.Fatalf("subtask %d, of groups %d to %d, processes one of group %d", i, low, high, one.group)
					}
					if before := last[[2]uint32{one.channel, one.group}]; before > one.number {
						t.Fatalf("record %d comes after %d", one.number, before)
					}
					last[[2]uint32{one.channel, one.group}] = one.number
					got = append(got, one)
				}
			}
		}
		slices.SortFunc(got, func(a, b record) int { return int(a.number) - int(b.number) })
		if !slices.Equal(got, want) {
			t.Fatalf("processed %v, want %v", got, want)
		}
	})
}

// A record of a channel has a number that rises, and a key group.
type record struct{ channel, number, group uint32 }

func (r record) append(b []byte) []byte {
	for _, v := range []uint32{r.channel, r.number, r.group} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func parseRecord(b []byte) record {
	at := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	return record{at(0), at(1), at(2)}
}
