package pattern

// Run is a match that has begun.
type Run struct {
	// Start is the number of its first row, and time that row's time.
	Start int64
	time  int64
	state int32
	// slot is where the counts of its rows are.
	slot int32
}

// Rows are the rows of a run or match by element: as many as Counts says of each, one
// element after the other, from Start on without a gap.
type Rows struct {
	Start  int64
	Counts []int32
}

// Span is where the rows of an element begin and end.
func (r Rows) Span(element int) (from, to int64) {
	from = r.Start
	for _, n := range r.Counts[:element] {
		from += int64(n)
	}
	return from, from + int64(r.Counts[element])
}

// Len is how many rows there are.
func (r Rows) Len() int64 {
	n := int64(0)
	for _, c := range r.Counts {
		n += int64(c)
	}
	return n
}

// counts are those of all runs, in slots that are used again.
type counts struct {
	elements int
	values   []int32
	free     []int32
}

// zeros is the slot of runs without rows.
const zeros = 0

// reset forgets all slots but zeros.
func (c *counts) reset(elements int) {
	c.elements, c.values, c.free = elements, cleared(c.values, elements), c.free[:0]
}

func (c *counts) of(slot int32) []int32 {
	at := int(slot) * c.elements
	return c.values[at : at+c.elements : at+c.elements]
}

// copy gives another slot with the same counts.
func (c *counts) copy(slot int32) int32 {
	if last := len(c.free) - 1; last >= 0 {
		to := c.free[last]
		c.free = c.free[:last]
		copy(c.of(to), c.of(slot))
		return to
	}
	to := int32(len(c.values) / c.elements)
	c.values = append(c.values, c.of(slot)...)
	return to
}

// release gives a slot back.
func (c *counts) release(slot int32) {
	if slot != zeros {
		c.free = append(c.free, slot)
	}
}

// queue is runs, the one that began first at its top. It is a binary heap. The order in
// which runs of the same beginning come out decides between matches, so it does exactly
// as Java's PriorityQueue, which Flink has.
type queue []Run

func (q *queue) add(r Run) {
	*q = append(*q, r)
	h := *q
	k := len(h) - 1
	for k > 0 {
		parent := (k - 1) / 2
		if r.Start >= h[parent].Start {
			break
		}
		h[k] = h[parent]
		k = parent
	}
	h[k] = r
}

// poll takes the top, which must be there.
func (q *queue) poll() Run {
	h := *q
	top, last := h[0], len(h)-1
	moved := h[last]
	h = h[:last]
	if last > 0 {
		h.sink(0, moved)
	}
	*q = h
	return top
}

// sink puts a run at a place or below.
func (q queue) sink(k int, r Run) {
	for k < len(q)/2 {
		child := 2*k + 1
		if right := child + 1; right < len(q) && q[child].Start > q[right].Start {
			child = right
		}
		if r.Start <= q[child].Start {
			break
		}
		q[k] = q[child]
		k = child
	}
	q[k] = r
}

// drop takes out the runs that began before a row, and releases what they have.
func (q *queue) drop(before int64, c *counts) {
	h := *q
	kept := 0
	for _, r := range h {
		if r.Start < before {
			c.release(r.slot)
			continue
		}
		h[kept] = r
		kept++
	}
	if kept == len(h) {
		return
	}
	h = h[:kept]
	for k := kept/2 - 1; k >= 0; k-- {
		h.sink(k, h[k])
	}
	*q = h
}
