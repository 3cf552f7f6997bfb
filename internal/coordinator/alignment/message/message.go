// Package message holds what the sources of an alignment group and their coordinators
// tell each other.
//
// It promises that both sides agree on the JSON.
package message

// Kind is the name job graphs call the coordinator by.
const Kind = "alignment"

// Spec configures one source's coordinator.
type Spec struct {
	// Group names those who are kept together, within a job.
	Group string `json:"group"`
	// DriftMillis is how far, in event time, the source may be ahead of the one that is
	// furthest behind.
	DriftMillis int64 `json:"driftMillis"`
}

// Report says how far one subtask of a source has come.
type Report struct {
	// Watermark is its event time in Unix milliseconds; the least number: it has none.
	Watermark int64 `json:"watermark"`
	// Idle says that nobody should wait for it.
	Idle bool `json:"idle,omitzero"`
}

// Answer says how far it may go.
type Answer struct {
	// Allowed is the greatest watermark with which it may go on reading.
	Allowed int64 `json:"allowed"`
}
