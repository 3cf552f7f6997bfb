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
	"strconv"
	"strings"
)

const hexDigits = 2 * len(ID{})

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
	text := make([]byte, 0, 2*hexDigits+len("__123456_123"))
	text = append(hex.AppendEncode(text, a.Graph.ID[:]), '_')
	text = append(hex.AppendEncode(text, a.Vertex.ID[:]), '_')
	text = append(strconv.AppendInt(text, int64(a.Subtask), 10), '_')
	return string(strconv.AppendInt(text, int64(a.Attempt), 10))
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
	const numbers = 2*hexDigits + 2
	if len(text) < numbers || text[hexDigits] != '_' || text[numbers-1] != '_' {
		return bad()
	}
	var a AttemptID
	var err error
	if a.Graph.ID, err = Parse(text[:hexDigits]); err != nil {
		return bad()
	}
	if a.Vertex.ID, err = Parse(text[hexDigits+1 : numbers-1]); err != nil {
		return bad()
	}
	subtask, attempt, found := strings.Cut(text[numbers:], "_")
	var ok1, ok2 bool
	a.Subtask, ok1 = parseNumber(subtask)
	a.Attempt, ok2 = parseNumber(attempt)
	if !found || !ok1 || !ok2 {
		return bad()
	}
	return a, nil
}

// parseNumber reads a number that is not negative as String writes it: without a
// sign and without zeros before it.
func parseNumber(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && text[0] != '+' && text[0] != '-' && (text[0] != '0' || len(text) == 1)
}

// PartitionID names the result partition one attempt produces of one data set.
type PartitionID struct {
	DataSet  DataSetID
	Producer AttemptID
}

// String gives data set and producer, for logs.
func (p PartitionID) String() string { return p.DataSet.String() + "@" + p.Producer.String() }
