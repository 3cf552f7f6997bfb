package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/fs"
	"github.com/weirstream/weir/internal/fs/local"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/snapshot"
	"github.com/weirstream/weir/internal/snapshot/storage"
)

func operatorID(n byte) ident.OperatorID { return ident.OperatorID{ID: ident.ID{15: n}} }

// keeps is an operator of a savepoint with one keyed state.
func keeps(n byte, name string, s snapshot.StateInfo) snapshot.OperatorState {
	return snapshot.OperatorState{ID: operatorID(n), Name: name, Parallelism: 1, MaxParallelism: 128, Subtasks: []snapshot.SubtaskState{{
		Keyed: []snapshot.KeyedState{{Last: 127, Key: "int64", States: []snapshot.StateInfo{s}}}}}}
}

func oldProgram() *snapshot.Metadata {
	bytes := make([]byte, 48)
	elements := []snapshot.Extent{{Length: 16}, {Offset: 16, Length: 16}, {Offset: 32, Length: 16}}
	source := snapshot.OperatorState{ID: operatorID(1), Name: "Source", Parallelism: 1, MaxParallelism: 128, Subtasks: []snapshot.SubtaskState{{
		Lists: []snapshot.ListState{{Name: "ranges", Schema: "int64,int64", Elements: elements, File: snapshot.Handle{Inline: bytes, Length: 48, Checksum: snapshot.Checksum(bytes)}}}}}}
	return &snapshot.Metadata{Checkpoint: 7, JobName: "old", Kind: snapshot.Savepoint, Triggered: time.UnixMilli(0).UTC(), Operators: []snapshot.OperatorState{
		source,
		keeps(2, "same", snapshot.StateInfo{Name: "n", Kind: "VALUE", Value: "int64", Rows: 5, Bytes: 80}),
		keeps(3, "wider", snapshot.StateInfo{Name: "n", Kind: "VALUE", Value: "int32"}),
		keeps(4, "changed", snapshot.StateInfo{Name: "n", Kind: "VALUE", Value: "int64"}),
		keeps(5, "gone", snapshot.StateInfo{Name: "n", Kind: "VALUE", Value: "int64", Rows: 9, Bytes: 99}),
		keeps(6, "renamed", snapshot.StateInfo{Name: "before", Kind: "VALUE", Value: "int64", Rows: 1, Bytes: 16}),
	}}
}

// Each operator of a changed program is told what becomes of its state, and why.
func TestVerdicts(t *testing.T) {
	graph := &jobgraph.Graph{Vertices: []*jobgraph.Vertex{{Name: "v", Parallelism: 2, MaxParallelism: 128}}}
	var declared []snapshot.Declaration
	add := func(n byte, name, unknown string, states ...snapshot.DeclaredState) {
		graph.Vertices[0].Operators = append(graph.Vertices[0].Operators, &jobgraph.Operator{ID: operatorID(n), Name: name})
		declared = append(declared, snapshot.Declaration{Operator: operatorID(n).String(), Key: "int64", States: states, Unknown: unknown})
	}
	value := func(name, schema string) snapshot.DeclaredState {
		return snapshot.DeclaredState{Name: name, Kind: "VALUE", Value: schema}
	}
	add(1, "Source", "a source says what it keeps when it runs")
	add(2, "same", "", value("n", "int64"), value("extra", "int64"))
	add(3, "wider", "", value("n", "int64"))
	add(4, "changed", "", value("n", "string"))
	add(6, "renamed", "", value("after", "int64"))
	add(7, "new", "", value("n", "int64"))
	add(8, "gone", "it cannot be opened here: no network")
	got := compareUpgrade(oldProgram(), "file:/sp", graph, declared)
	for i, want := range []struct {
		name    string
		outcome outcome
		why     string
	}{
		{"Source", kept, "its lists (3 rows) are given to it"},
		{"same", kept, `state "extra" is new, and begins empty`},
		{"wider", migrated, `state "n"`},
		{"changed", refused, `state "n"`},
		{"renamed", lost, `state "before"`},
		{"new", rebuilt, "it is not in the savepoint, and begins empty"},
		{"gone", rebuilt, "begins anew"},
		{"gone", lost, "the program has no such operator (1 states, 9 rows, 99 bytes); one of its name has another id"},
	} {
		if i >= len(got) || got[i].Name != want.name || got[i].Outcome != want.outcome || !strings.Contains(strings.Join(got[i].Reasons, "\n"), want.why) {
			t.Errorf("verdict %d: got %+v, want %+v", i, got[min(i, len(got)-1)], want)
		}
	}
	if !loses(got) || !refuses(got) || loses(got[:3]) {
		t.Error("what is lost is not told")
	}
	for _, c := range []struct {
		of   []verdict
		want string
	}{
		{got[:3], "Nothing would be lost."},
		{got, "cannot begin"},
		{got[4:7], "does not refuse that"}, // an operator that stays has lost a state
		{got[4:], "`weir run -n`"},
	} {
		if text := conclusion(c.of); !strings.Contains(text, c.want) {
			t.Errorf("of %+v: %s, want %s", c.of, text, c.want)
		}
	}
}

// What a savepoint holds is shown without a cluster.
func TestSavepointShow(t *testing.T) {
	t.Setenv("WEIR_HOME", t.TempDir())
	dir := t.TempDir()
	if _, err := storage.Write(t.Context(), local.FileSystem{}, fs.Location("file:"+dir), oldProgram()); err != nil {
		t.Fatal(err)
	}
	var out, err bytes.Buffer
	if code := Main([]string{"savepoint", "show", dir}, &out, &err); code != 0 {
		t.Fatalf("code %d: %s", code, &err)
	}
	for _, want := range []string{"SAVEPOINT 7 of job", "(old), taken 1970-01-01 00:00:00", "Source 1/128   ranges  SPLIT_DISTRIBUTE         int64,int64  3", "same 1/128     n       VALUE             int64  int64        5     80"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in\n%s", want, &out)
		}
	}
	out.Reset()
	if code := Main([]string{"savepoint", "show", "--json", dir}, &out, &err); code != 0 || !strings.Contains(out.String(), `"states":[{"name":"n","kind":"VALUE","key":"int64","type":"int64","rows":5,"bytes":80}]`) {
		t.Errorf("code %d: %s", code, &out)
	}
}
