package rest

import (
	"slices"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
)

// jobPlan is a JobGraph as the web interface draws it.
type jobPlan struct {
	ID    ident.JobID `json:"jid"`
	Name  string      `json:"name"`
	Type  string      `json:"type"`
	Nodes []planNode  `json:"nodes"` // of a batch job sources first, else sinks, as Flink's schedulers list them
}

type planNode struct {
	ID          ident.VertexID `json:"id"`
	Operator    string         `json:"operator"`
	Parallelism int            `json:"parallelism"`
	Strategy    string         `json:"operator_strategy"`
	Description string         `json:"description"`
	Properties  empty          `json:"optimizer_properties"`
	Inputs      []planInput    `json:"inputs,omitempty"` // absent in sources
}

type planInput struct {
	ID       ident.VertexID `json:"id"`
	Number   int            `json:"num"`
	Exchange string         `json:"exchange"`
	Ship     string         `json:"ship_strategy"`
}

// planOf draws a graph, of a job as it is; nil: it has not been run.
func planOf(g *jobgraph.Graph, job *execgraph.View) jobPlan {
	p := jobPlan{ID: g.Job, Name: g.Name, Type: jobType(g), Nodes: []planNode{}}
	blocking := map[ident.DataSetID]bool{}
	for _, v := range g.Vertices {
		for _, d := range v.Produces {
			blocking[d.ID] = d.Type == jobgraph.Blocking
		}
	}
	for _, v := range slices.Backward(g.Vertices) {
		n := v.Parallelism
		if job != nil {
			if view := job.Vertex(v.ID); view != nil {
				n = view.Parallelism
			}
		}
		node := planNode{ID: v.ID, Parallelism: parallelismOf(n), Description: v.Description}
		for i, e := range v.Inputs {
			exchange := "pipelined_bounded"
			if blocking[e.DataSet] {
				exchange = "blocking"
			}
			node.Inputs = append(node.Inputs, planInput{ID: e.Source, Number: i, Exchange: exchange, Ship: e.Ship})
		}
		p.Nodes = append(p.Nodes, node)
	}
	if g.Batch {
		slices.Reverse(p.Nodes)
	}
	return p
}

// planBody is the answer that holds only a plan.
type planBody struct {
	Plan jobPlan `json:"plan"`
}

func (s *Server) plan(r *request) (answer, error) {
	v, err := s.view(r)
	if err != nil {
		return answer{}, err
	}
	return ok(planBody{planOf(v.Plan, &v)})
}
