package state

// Timers are moments at which an operator wants to be called for a key and a
// namespace: event times, which a watermark passes, and processing times. A timer
// that is registered twice fires once.
type Timers[K, N comparable] struct{}

// NewTimers opens two states, of kinds KindEventTimers and KindProcessingTimers.
// It fails as NewValue does. Timers without namespaces have one of struct{}.
func NewTimers[K, N comparable](k *Keyed[K], name string, ns *Namespace[N]) (*Timers[K, N], error) {
	panic("state")
}

// RegisterEventTime registers a timer for the current key and namespace.
func (t *Timers[K, N]) RegisterEventTime(at int64) { panic("state") }

// DeleteEventTime removes such a timer, if there is one.
func (t *Timers[K, N]) DeleteEventTime(at int64) { panic("state") }

// RegisterProcessingTime registers a timer for the current key and namespace.
func (t *Timers[K, N]) RegisterProcessingTime(at int64) { panic("state") }

// DeleteProcessingTime removes such a timer, if there is one.
func (t *Timers[K, N]) DeleteProcessingTime(at int64) { panic("state") }

// AdvanceEventTime removes each event-time timer up to and including the
// watermark and calls fire with it, in the order of their times, and among equal
// ones in an order that depends on nothing but keys and namespaces. Key and
// namespace are then the current ones. Timers that fire registers up to the
// watermark fire too. It stops at the first error and returns it.
func (t *Timers[K, N]) AdvanceEventTime(watermark int64, fire func(key K, n N, at int64) error) error {
	panic("state")
}

// AdvanceProcessingTime is AdvanceEventTime for processing times.
func (t *Timers[K, N]) AdvanceProcessingTime(now int64, fire func(key K, n N, at int64) error) error {
	panic("state")
}

// NextProcessingTime returns the earliest processing-time timer. It may be one
// that was deleted: then advancing to it calls nothing.
func (t *Timers[K, N]) NextProcessingTime() (at int64, ok bool) { panic("state") }

// NextEventTime is NextProcessingTime for event times.
func (t *Timers[K, N]) NextEventTime() (at int64, ok bool) { panic("state") }

// Len returns the numbers of event-time and processing-time timers.
func (t *Timers[K, N]) Len() (event, processing int) { panic("state") }
