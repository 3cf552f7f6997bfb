// Package alignment keeps the sources of a job together in event time, so that what
// waits for the one that is behind does not pile up in the state of windows and joins.
//
//	subtask ──Report{watermark, idle}──▶ coordinator of its source ──asks──▶ those of the group
//	        ◀──────Answer{allowed}────── least watermark of the group + the source's drift
//
// It promises that a source which holds to the answers is never further ahead of the
// least watermark of its group than its drift, and that the subtask that is furthest
// behind is never held, so that the group goes on. Subtasks that are idle or have
// finished hold nobody; one that has not reported holds everybody. It keeps nothing in
// checkpoints: what a new coordinator needs to know, the subtasks tell it with their
// next reports.
package alignment

import (
	"encoding/json/v2"
	"errors"
	"fmt"

	"github.com/weirstream/weir/internal/coordinator"
	"github.com/weirstream/weir/internal/coordinator/alignment/message"
)

// Kind is the name job graphs call this coordinator by.
const Kind = message.Kind

var errClosed = errors.New("the job has ended")

// Factory makes the coordinator of one source.
func Factory(c coordinator.Context) (coordinator.Coordinator, error) {
	var spec message.Spec
	if err := json.Unmarshal([]byte(c.Spec), &spec); err != nil {
		return nil, fmt.Errorf("read its specification: %w", err)
	}
	if spec.Group == "" || spec.DriftMillis < 1 {
		return nil, fmt.Errorf("read its specification: group %q and drift %d ms, want a name and at least 1 ms", spec.Group, spec.DriftMillis)
	}
	return &keeper{context: c, spec: spec, source: newSource(c.Parallelism)}, nil
}

// keeper is the coordinator of one source.
type keeper struct {
	context coordinator.Context
	spec    message.Spec
	source  *source
	closed  bool
}

var _ coordinator.Following = (*keeper)(nil)

// Start does nothing: the subtasks report.
func (k *keeper) Start() {}

// HandleRequest takes a report and says how far its subtask may go. A report that is
// made again says the same.
func (k *keeper) HandleRequest(subtask, _ int, payload []byte, reply func([]byte, error)) {
	var r message.Report
	switch err := json.Unmarshal(payload, &r); {
	case k.closed:
		reply(nil, errClosed)
	case err != nil:
		reply(nil, fmt.Errorf("read how far a source has come: %w", err))
	case subtask < 0 || subtask >= len(k.source.subtasks):
		reply(nil, fmt.Errorf("subtask %d says how far it has come, there are %d", subtask, len(k.source.subtasks)))
	default:
		k.source.report(subtask, r)
		reply(json.Marshal(message.Answer{Allowed: allowed(k.group(), k.spec.DriftMillis)}))
	}
}

// group are the sources of the group.
func (k *keeper) group() (all []*source) {
	for _, c := range k.context.Peers() {
		if peer, ok := c.(*keeper); ok && peer.spec.Group == k.spec.Group {
			all = append(all, peer.source)
		}
	}
	return all
}

// SubtaskFailed does nothing: others wait where it was until it begins anew.
func (k *keeper) SubtaskFailed(subtask, attempt int) {}

// SubtaskFinished lets others go on without a subtask.
func (k *keeper) SubtaskFinished(subtask int) { k.source.finish(subtask) }

// Reset waits for a subtask again.
func (k *keeper) Reset(subtask int) { k.source.reset(subtask) }

// Close refuses those who report from now on.
func (k *keeper) Close() { k.closed = true }
