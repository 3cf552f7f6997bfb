// Package ident holds the identifiers of the engine: jobs, vertices, operators,
// attempts, allocations, processes and leader terms, each a type of its own.
//
// It promises that every identifier is comparable, prints as Flink prints it
// (32 lower-case hexadecimal digits for the 16-byte ones) and parses back from
// that text. It never draws randomness by itself: whoever makes an identifier
// hands in the source, so that a simulated world can repeat it.
package ident

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
)

// ID is the 16-byte value behind most identifiers. The zero ID means "none".
type ID [16]byte

// IsZero reports whether the identifier means "none".
func (id ID) IsZero() bool { return id == ID{} }

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// MarshalText writes the 32 hexadecimal digits.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads 32 hexadecimal digits in either case.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// Parse reads 32 hexadecimal digits in either case.
func Parse(text string) (ID, error) {
	var id ID
	if len(text) != 2*len(id) {
		return ID{}, fmt.Errorf("identifier %q: want %d hexadecimal digits, got %d characters", clip(text), 2*len(id), len(text))
	}
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return ID{}, fmt.Errorf("identifier %q: want %d hexadecimal digits: %w", clip(text), 2*len(id), err)
	}
	return id, nil
}

func clip(text string) string {
	const limit = 64
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "?") + "…"
	}
	return text
}

// New draws a random identifier from r.
func New(r *rand.Rand) ID {
	var id ID
	a, b := r.Uint64(), r.Uint64()
	for i := range 8 {
		id[i], id[8+i] = byte(a>>(8*i)), byte(b>>(8*i))
	}
	return id
}

// The identifiers. JobVertex and operator ids are deterministic hashes of the
// program; the others are drawn at random when the thing comes to be.
type (
	// JobID names one submission of a program.
	JobID struct{ ID }
	// VertexID names a JobVertex; it equals the id of its chain's first operator.
	VertexID struct{ ID }
	// OperatorID names an operator: from its UID, or a structural hash.
	OperatorID struct{ ID }
	// DataSetID names the intermediate result between two JobVertices.
	DataSetID struct{ ID }
	// GraphID names one ExecutionGraph: one life of a job at one master.
	GraphID struct{ ID }
	// AllocationID names one slot allocation: one job, one slot of one TaskManager.
	AllocationID struct{ ID }
	// InstanceID names one registration of a TaskManager at the ResourceManager.
	InstanceID struct{ ID }
	// LeaderID names a leader term of a fenced endpoint: DispatcherId,
	// ResourceManagerId and JobMasterId are such terms.
	LeaderID struct{ ID }
	// ClusterID names a cluster: processes of different clusters refuse each other.
	ClusterID struct{ ID }
)

// ResourceID names a TaskManager process: "localhost:45123-1a2b3c".
type ResourceID string

// AttemptID names one attempt to run one subtask: graph, vertex, subtask, attempt.
type AttemptID struct {
	Graph   GraphID
	Vertex  VertexID
	Subtask int
	Attempt int
}

// String gives Flink's form: graph_vertex_subtask_attempt.
func (a AttemptID) String() string {
	return fmt.Sprintf("%s_%s_%d_%d", a.Graph, a.Vertex, a.Subtask, a.Attempt)
}

// IsZero reports whether the attempt id means "none".
func (a AttemptID) IsZero() bool { return a == AttemptID{} }

// MarshalText gives the form of String.
func (a AttemptID) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the form of String.
func (a *AttemptID) UnmarshalText(text []byte) error {
	parsed, err := ParseAttempt(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// ParseAttempt reads the form of AttemptID.String.
func ParseAttempt(text string) (AttemptID, error) {
	bad := func() (AttemptID, error) {
		return AttemptID{}, fmt.Errorf("attempt id %q: want graph_vertex_subtask_attempt", clip(text))
	}
	parts := strings.Split(text, "_")
	if len(parts) != 4 {
		return bad()
	}
	var a AttemptID
	if a.Graph.UnmarshalText([]byte(parts[0])) != nil || a.Vertex.UnmarshalText([]byte(parts[1])) != nil {
		return bad()
	}
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "%d %d", &a.Subtask, &a.Attempt); err != nil || a.Subtask < 0 || a.Attempt < 0 {
		return bad()
	}
	if a.String() != strings.ToLower(text) {
		return bad()
	}
	return a, nil
}

// PartitionID names the result partition one attempt produces of one data set.
type PartitionID struct {
	DataSet  DataSetID
	Producer AttemptID
}

// String gives data set and producer, for logs.
func (p PartitionID) String() string { return p.DataSet.String() + "@" + p.Producer.String() }
