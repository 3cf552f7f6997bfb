package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"

	"github.com/weirstream/weir/internal/invariant"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/internal/sql/plan/pb"
)

// A Table is one that a plan reads or writes, as it was when the plan was made.
type Table struct {
	// Name is its catalog, its database and its own name.
	Name    [3]string         `json:"name"`
	Options map[string]string `json:"options"`
}

// file is a plan in a file: text that people can read and compare, but not change.
type file struct {
	// Layout says how the plan is written: another release may write it otherwise.
	Layout string `json:"layout"`
	// Sum is that of the plan's bytes.
	Sum    string          `json:"sha256"`
	Tables []Table         `json:"tables"`
	Plan   json.RawMessage `json:"plan"`
}

// layout is that of this release: the sum of what messages plans are made of.
func layout() string {
	d := protodesc.ToFileDescriptorProto(pb.File_weir_plan_proto)
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(d)
	invariant.Check(err == nil, "the messages of plans can be described: %v", err)
	return sum(text)[:16]
}

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// Text writes the job as a file keeps it, with the tables that it reads and writes.
func (j *Job) Text(tables []Table) ([]byte, error) {
	encoded := j.Encode()
	m := &pb.Job{}
	if err := proto.Unmarshal(encoded, m); err != nil {
		return nil, fmt.Errorf("write plan: %w", err)
	}
	text, err := protojson.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write plan: %w", err)
	}
	text, err = json.MarshalIndent(file{layout(), sum(encoded), tables, text}, "", "  ")
	return append(text, '\n'), err
}

// Read reads what Text wrote. The registry must have the functions of the plan.
func Read(text []byte, registry *expr.Registry) (*Job, []Table, error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, nil, fmt.Errorf("read plan: %w", err)
	}
	if f.Layout != layout() {
		return nil, nil, fmt.Errorf("read plan: its layout is %q, and this release reads %q: COMPILE PLAN makes the plan anew", f.Layout, layout())
	}
	m := &pb.Job{}
	if err := protojson.Unmarshal(f.Plan, m); err != nil {
		return nil, nil, fmt.Errorf("read plan: %w", err)
	}
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, nil, fmt.Errorf("read plan: %w", err)
	}
	if sum(encoded) != f.Sum {
		return nil, nil, errors.New("read plan: it was changed since COMPILE PLAN wrote it")
	}
	j, err := Decode(encoded, registry)
	return j, f.Tables, err
}
