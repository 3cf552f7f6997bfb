package state

import "io"

// A Snapshot is the state of a backend at the moment of Freeze. It must be
// released; until then changes to what it has not read yet cost copies.
type Snapshot struct{}

// Freeze gives a snapshot of all states. It takes microseconds. Snapshots are
// numbered from 1; 0 is the state as it was restored.
func (b *Backend) Freeze() *Snapshot { panic("state") }

// Number returns the number of the snapshot.
func (s *Snapshot) Number() uint64 { panic("state") }

// A Location is where the state of a key group is: a part of a file.
type Location struct {
	Group          int
	File           string
	Offset, Length int64
}

// A Base is an earlier snapshot of the same backend, for groups that did not
// change since. Locations are in the order of groups; a group without state has
// none.
type Base struct {
	Number    uint64
	Locations []Location
}

// Written is what Write wrote. With Number and Locations it is the Base of later
// snapshots.
type Written struct {
	Base
	Bytes  int64 // written to this file
	States []Size
}

// A Size is the part of one state in a file.
type Size struct {
	Name           string
	Entries, Bytes int64
}

// Changed returns the key groups that Write would write with this base.
func (s *Snapshot) Changed(base *Base) []int { panic("state") }

// Write writes the snapshot to w, which becomes the file of this name, and
// releases it group by group. With a base, groups that did not change since are
// not written and keep their locations. State that has expired is left out.
func (s *Snapshot) Write(w io.Writer, file string, base *Base) (Written, error) { panic("state") }

// Release gives the snapshot up, written or not. It may be called twice.
func (s *Snapshot) Release() { panic("state") }

// A Header is what a file says of itself.
type Header struct {
	Version  int
	Operator string
	Max      int    // key groups of the operator
	Key      string // the schema of keys
	States   []Descriptor
}

// A File is a snapshot that can be read. Any number of goroutines may use it.
type File struct{}

// OpenFile checks the beginning and the end of a snapshot. Every error names the
// file and the offset.
func OpenFile(name string, r io.ReaderAt, size int64) (*File, error) { panic("state") }

// Header returns the header of the file.
func (f *File) Header() Header { panic("state") }

// Locations returns the groups that the file holds, in their order.
func (f *File) Locations() []Location { panic("state") }

// Sizes returns what the file holds of each state, in the order of the header.
func (f *File) Sizes() []Size { panic("state") }

// Verify reads the whole file and checks every sum.
func (f *File) Verify() error { panic("state") }

// A Compatibility is what becomes of one state when it is restored.
type Compatibility struct {
	Name    string
	Outcome Outcome
	Reason  string // what changes, or why it is refused
}

// Outcome is what becomes of a state.
type Outcome uint8

// The outcomes. A state that is New has nothing to be restored from, one that is
// Lost is in the snapshot and was not opened.
const (
	Kept Outcome = iota
	Migrated
	New
	Lost
	Refused
)

// Compare says what becomes of the states of a snapshot in an operator that opens
// these, without reading any.
func Compare(from Header, key string, to []Descriptor) []Compatibility { panic("state") }

// Restore reads the group at a location of f, which must be one of the backend's
// and empty. All views must be open. States that were not opened are left out:
// Compare tells which. On an error the backend must not be used.
func (b *Backend) Restore(f *File, l Location) error { panic("state") }

// An Error says that a value of a state could not be encoded or decoded.
type Error struct {
	State string
	Err   error
}

func (e *Error) Error() string { return "state " + e.State + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }
