package dispatcher

import (
	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/jobgraph"
	"github.com/weirstream/weir/internal/jobmaster"
)

// JobMasters is the Factory of the real thing: every job gets a Master with
// these options, and a leader term of its own. It must be used on the options'
// loop, which is the Dispatcher's.
func JobMasters(o jobmaster.Options) Factory {
	return func(graph *jobgraph.Graph, ended func(execgraph.View)) (JobMaster, error) {
		o := o
		o.Graph, o.OnDone = graph, ended
		o.JobMasterID = ident.LeaderID{ID: ident.New(o.Loop.Rand())}
		o.Begun = o.Loop.Now()
		return jobmaster.New(o)
	}
}
