package execgraph

import (
	jsonv1 "encoding/json"
	"encoding/json/v2"
	"fmt"

	"github.com/weirstream/weir/internal/jobgraph"
)

// form writes durations as whole nanoseconds.
var form = jsonv1.FormatDurationAsNano(true)

// Encode gives a view's bytes, which DecodeView of the same binary reads.
func (v View) Encode() ([]byte, error) {
	data, err := json.Marshal(&v, form)
	if err != nil {
		return nil, fmt.Errorf("encode the view of job %s: %w", v.Job, err)
	}
	return data, nil
}

// DecodeView reads what Encode gave.
func DecodeView(data []byte) (View, error) {
	var v View
	if err := json.Unmarshal(data, &v, form); err != nil {
		return View{}, fmt.Errorf("decode the view of a job: %w", err)
	}
	return v, nil
}

// Summary is a view of the same job with what a list of jobs tells of it: without
// subtasks, failures and accumulators, and of its plan only what sort of job it
// is.
func (v View) Summary() View {
	s := v
	s.Failures, s.Accumulators, s.Coordinators, s.Vertices = nil, nil, nil, make([]*VertexView, len(v.Vertices))
	for i, vertex := range v.Vertices {
		one := *vertex
		one.Subtasks = nil
		s.Vertices[i] = &one
	}
	if v.Plan != nil {
		s.Plan = &jobgraph.Graph{Job: v.Plan.Job, Name: v.Plan.Name, Batch: v.Plan.Batch}
		for _, vertex := range v.Plan.Vertices {
			s.Plan.Vertices = append(s.Plan.Vertices, &jobgraph.Vertex{ID: vertex.ID, Produces: vertex.Produces})
		}
	}
	return s
}
