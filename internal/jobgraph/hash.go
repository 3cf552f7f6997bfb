package jobgraph

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/v2"
	"fmt"

	"github.com/weirstream/weir/internal/invariant"
)

// Encode gives the graph's bytes; equal graphs have equal bytes.
func (g *Graph) Encode() []byte {
	text, err := json.Marshal(g, json.Deterministic(true))
	invariant.Check(err == nil, "a job graph can be written as JSON: %v", err)
	return text
}

// Decode reads what Encode wrote.
func Decode(text []byte) (*Graph, error) {
	g := &Graph{}
	if err := json.Unmarshal(text, g); err != nil {
		return nil, fmt.Errorf("decode job graph: %w", err)
	}
	return g, nil
}

// Hash names what the job executes: vertices, operators and edges, not the
// submission, its name or where the program is kept. A worker whose program
// gives another hash must not run the job.
func (g *Graph) Hash() string {
	text, err := json.Marshal(g.Vertices, json.Deterministic(true))
	invariant.Check(err == nil, "job vertices can be written as JSON: %v", err)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Operators lists the operators of all vertices in order, to name the first one
// in which two graphs differ.
func (g *Graph) Operators() []*Operator {
	var all []*Operator
	for _, v := range g.Vertices {
		all = append(all, v.Operators...)
	}
	return all
}
