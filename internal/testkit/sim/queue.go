package sim

import "time"

// An event is something that will happen in the world.
//
// Invariant: it stands in the queue, with index its place there, or has run or
// was taken out, with index -1.
type event struct {
	at   time.Duration // since the world began
	tie  uint64        // orders events of one moment; drawn from the seed
	seq  uint64        // orders events of one moment and tie: as they were made
	what Kind
	proc *Process // whose event it is; nil: the world's
	name string   // of the loop, or what the event is about
	f    func()

	index int
}

func (e *event) before(o *event) bool {
	if e.at != o.at {
		return e.at < o.at
	}
	if e.tie != o.tie {
		return e.tie < o.tie
	}
	return e.seq < o.seq
}

// queue is a binary heap with the event that comes first at the top.
type queue []*event

func (q *queue) push(e *event) {
	e.index = len(*q)
	*q = append(*q, e)
	q.up(e.index)
}

func (q *queue) pop() *event {
	top := (*q)[0]
	q.remove(top)
	return top
}

// remove takes an event out; one that is not in the queue is left alone.
func (q *queue) remove(e *event) {
	i, last := e.index, len(*q)-1
	if i < 0 {
		return
	}
	if i != last {
		q.swap(i, last)
	}
	(*q)[last] = nil
	*q = (*q)[:last]
	e.index = -1
	if i != last {
		q.down(i)
		q.up(i)
	}
}

func (q queue) swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q queue) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q[i].before(q[parent]) {
			return
		}
		q.swap(i, parent)
		i = parent
	}
}

func (q queue) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q) {
			return
		}
		if child+1 < len(q) && q[child+1].before(q[child]) {
			child++
		}
		if !q[child].before(q[i]) {
			return
		}
		q.swap(i, child)
		i = child
	}
}
