// Package message holds what a source whose splits are found by the program, in its
// first subtask, and its coordinator say to each other.
//
// It promises that both sides agree on the JSON. It never looks into a split.
package message

// Spec configures the coordinator of one source.
type Spec struct {
	// Spread gives each split to the subtask that its id chooses; otherwise any that
	// asks gets it.
	Spread bool `json:"spread,omitzero"`
}

// Request is what a subtask asks. It is of a reader, which wants a split, unless Begin
// or Found are set.
type Request struct {
	// Sequence counts the requests of a reader, and those of an enumerator, from 1. One
	// with the number of the one before is its repetition and gets the same answer.
	Sequence int64 `json:"sequence"`
	// Parallelism is that of the source.
	Parallelism int `json:"parallelism,omitzero"`
	// Begin says that an enumerator begins: it wants the state of the one before.
	Begin bool `json:"begin,omitzero"`
	// Found is what an enumerator has found.
	Found *Found `json:"found,omitempty"`
}

// Found is what an enumerator has found since it told last, and what it wants to know
// if it begins anew after that: both are kept, or neither.
type Found struct {
	Splits []Split `json:"splits,omitempty"`
	State  []byte  `json:"state,omitempty"`
	// Done says that it will find no more.
	Done bool `json:"done,omitzero"`
}

// Split is a share of the input.
type Split struct {
	ID   string `json:"id"`
	Data []byte `json:"data"`
}

// Response answers a Request.
type Response struct {
	// Data is the split that a reader gets; null: none.
	Data []byte `json:"data,omitzero"`
	// Done: there is none, and there will be none. Later: ask again.
	Done  bool `json:"done,omitzero"`
	Later bool `json:"later,omitzero"`
	// State and Done answer Begin.
	State []byte `json:"state,omitempty"`
}
