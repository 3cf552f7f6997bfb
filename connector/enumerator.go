package connector

import (
	"context"
	"log/slog"
)

// SplitsKind names the coordinator of sources that are Enumerated.
const SplitsKind = "splits"

// Enumerated is a Source whose splits the program finds. Its enumerator runs beside
// the source's first subtask, in the job's own process: no code of a program runs in
// the JobManager. What it finds is kept by a coordinator beside the job's master, which
// hands it to the readers that ask.
type Enumerated interface {
	// Enumerator makes the enumerator. It may block.
	Enumerator(c EnumeratorContext) (Enumerator, error)
	// Spread says to whom splits go: each to the subtask that its ID chooses, evenly as
	// hashes are, which suits splits without an end; otherwise to whoever asks first,
	// which suits those that are read to their end.
	Spread() bool
}

// EnumeratorContext is what an enumerator begins with.
type EnumeratorContext struct {
	// Job names the job: 32 hexadecimal digits. Name is the operator's for people.
	Job, Name string
	// Parallelism is that of the readers.
	Parallelism int
	// State is what the enumerator before had given with what it found last; nil: there
	// was none.
	State  []byte
	Logger *slog.Logger
}

// Enumerator finds splits. It is used by one goroutine, which may wait.
type Enumerator interface {
	// Discover waits for something to tell and returns it, at the latest when ctx ends:
	// then the task has ended, and what it returns does not matter. What it has returned
	// counts as found when it is called again. An error fails the task.
	Discover(ctx context.Context) (Discovery, error)
	Close() error
}

// Discovery is what an enumerator has found.
type Discovery struct {
	// Splits are new. At most 131072 may wait for readers at once.
	Splits []Split
	// State is what an enumerator that begins anew needs to know to find each split
	// once: it is kept with the splits, or neither is.
	State []byte
	// Done says that nothing more will be found: a source ends with its splits, one
	// that has no end has all that it will ever have.
	Done bool
}

// Split is a share of the input.
type Split struct {
	// ID names the split. Data is all that a reader needs to begin with it.
	ID   string
	Data []byte
}
