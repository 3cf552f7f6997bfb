package rescale

import (
	"slices"
	"time"

	"github.com/weirstream/weir/internal/execgraph"
	"github.com/weirstream/weir/internal/ident"
)

// history remembers the rescales of a job.
type history struct {
	r *Rescaler
	// current is in progress; nil: none is.
	current *execgraph.Rescale
	past    []execgraph.Rescale // oldest first, at most opts.History
	last    *execgraph.Rescale  // the newest completed one that stopped the job
	counts  execgraph.AdaptiveView
	// requirements names the bounds, attempts counts the rescales with them.
	requirements ident.ID
	attempts     int
	// next is the cause of the rescale that begins when the one in progress is over;
	// empty: none.
	next string
	// since is when the state was entered.
	since time.Time
	shown *execgraph.AdaptiveView // nil: something has changed since
}

func (h *history) init(r *Rescaler) {
	h.r, h.since = r, r.now
	h.require()
}

// require notes that other bounds hold. What was to follow from the old ones, and
// was not begun, is not done any more; what a job waits for that does not run is
// now what the new ones say.
func (h *history) require() {
	h.requirements, h.attempts, h.shown = h.r.opts.NewID(), 0, nil
	switch {
	case h.current == nil || !h.current.Placed.IsZero():
	case h.r.state == executing:
		h.end(execgraph.RescaleIgnored, "RESOURCE_REQUIREMENTS_UPDATED")
	default:
		h.attempts = 1
		h.current.Requirements, h.current.Attempt = h.requirements, 1
	}
}

// begin begins a rescale, unless one is in progress, which is then the same.
func (h *history) begin(cause string) {
	if h.current != nil {
		if !h.current.Placed.IsZero() {
			h.next = cause
		}
		return
	}
	h.attempts++
	h.shown = nil
	h.current = &execgraph.Rescale{ID: h.r.opts.NewID(), Requirements: h.requirements, Attempt: h.attempts, Cause: cause, Begin: h.r.now}
	h.current.Spans = []execgraph.SchedulerSpan{{State: h.r.state.String(), Enter: h.since}}
	h.describe()
}

// describe notes what is wanted and what was before.
func (h *history) describe() {
	r, c := h.r, h.current
	before, used := r.layout, make([]int, len(r.shape.groups))
	if before == nil {
		before = make([]int, len(r.shape.vertices))
	} else {
		used = r.shape.used(before)
	}
	c.Vertices, c.Groups = nil, nil
	for i, b := range r.shape.together(r.bounds) {
		v := r.shape.vertices[i]
		c.Vertices = append(c.Vertices, execgraph.RescaledVertex{ID: v.ID, Name: v.Name, Group: v.SlotSharingGroup, Desired: b.Upper, Sufficient: b.Lower, Before: before[i]})
	}
	for i, b := range r.shape.groupBounds(r.bounds) {
		c.Groups = append(c.Groups, execgraph.RescaledGroup{Name: r.shape.groups[i], Desired: b.Upper, Sufficient: b.Lower, Before: used[i]})
	}
}

// enter notes that the scheduler has entered its state.
func (h *history) enter() {
	h.since, h.shown = h.r.now, nil
	if c := h.current; c != nil {
		c.Spans[len(c.Spans)-1].Leave = h.r.now
		c.Spans = append(c.Spans, execgraph.SchedulerSpan{State: h.r.state.String(), Enter: h.r.now})
	}
}

func (h *history) stopped() {
	if h.current != nil {
		h.current.Stopped, h.shown = h.r.down, nil
	}
}

func (h *history) ended() {
	if h.current != nil {
		h.current.Ended, h.shown = h.r.now, nil
	}
}

// placed notes the new layout.
func (h *history) placed(layout []int) {
	if h.current == nil {
		return
	}
	h.describe()
	h.current.Placed, h.shown = h.r.now, nil
	for i := range h.current.Vertices {
		h.current.Vertices[i].After = layout[i]
	}
	for i, n := range h.r.shape.used(layout) {
		h.current.Groups[i].After = n
	}
}

// rescaled counts a restart that is made to change the parallelism.
func (h *history) rescaled() { h.counts.Rescaled++; h.shown = nil }

// complete ends the rescale by which the job runs.
func (h *history) complete() {
	if h.current == nil || h.current.Placed.IsZero() {
		return
	}
	h.end(execgraph.RescaleCompleted, "SUCCEEDED")
	if cause := h.next; cause != "" {
		h.next = ""
		h.begin(cause)
	}
}

// end ends the rescale in progress, if there is one.
func (h *history) end(state, reason string) {
	c := h.current
	if c == nil {
		return
	}
	h.current, h.shown = nil, nil
	if state != execgraph.RescaleCompleted {
		h.next = ""
	}
	c.State, c.Reason, c.End = state, reason, h.r.now
	c.Spans[len(c.Spans)-1].Leave = h.r.now
	switch state {
	case execgraph.RescaleCompleted:
		h.counts.Completed++
		if !c.Stopped.IsZero() {
			h.last = c
		}
	case execgraph.RescaleFailed:
		h.counts.Failed++
	case execgraph.RescaleIgnored:
		h.counts.Ignored++
	}
	if limit := h.r.opts.History; limit > 0 {
		h.past = append(h.past, *c)
		if len(h.past) > limit {
			h.past = slices.Delete(h.past, 0, len(h.past)-limit)
		}
	}
	h.r.emit(Recorded{Rescale: *c})
}

// view gives what is remembered.
func (h *history) view() *execgraph.AdaptiveView {
	if h.shown != nil {
		return h.shown
	}
	v := h.counts
	v.Settings, v.Bounds, v.Last = h.r.opts.AdaptiveSettings, h.r.bounds, h.last
	if h.r.opts.History > 0 {
		v.Rescales = slices.Clone(h.past)
		if h.current != nil {
			v.InProgress = 1
			c := *h.current
			c.Vertices, c.Groups, c.Spans = slices.Clone(c.Vertices), slices.Clone(c.Groups), slices.Clone(c.Spans)
			v.Rescales = append(v.Rescales, c)
		}
		slices.Reverse(v.Rescales)
		v.Rescales = v.Rescales[:min(len(v.Rescales), h.r.opts.History)]
	}
	h.shown = &v
	return h.shown
}
