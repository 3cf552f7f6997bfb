// Package disk says what a state backend wants of the place where it puts what there
// is no room for in memory.
//
// It holds the interface alone, so that neither the state nor who implements it needs
// the other.
package disk

// A Store is where a backend puts what there is no room for in memory: keys in the
// order of their bytes, with values. It is empty when it is opened and gone when it is
// closed: a backend has its state again from snapshots, never from its disk.
//
// The goroutine of the backend owns it, but for its views. After an error it must
// only be closed.
type Store interface {
	// Take removes a key, if it has a value, and returns a copy of that in the memory of
	// dst. It is likely that the key will be put again.
	Take(dst, key []byte) (value []byte, ok bool, err error)
	// Forget says of a key that has no value, and may have been taken, that it is not
	// likely to be put again.
	Forget(key []byte) error
	// Put gives a key, which has none, a value. There must be a Commit before anything
	// else is asked.
	Put(key, value []byte) error
	// Commit ends a batch of Put, and returns before the disk is behind with what it
	// has been given, or with why it cannot take it.
	Commit() error
	// Delete removes a key that has a value.
	Delete(key []byte) error
	// DeleteRange removes all keys from one to another, which is not removed itself.
	DeleteRange(from, to []byte) error
	Reader
	// View returns what is there now. It is to be closed, before or after the store.
	View() (Reader, error)
}

// A Reader gives what there is: in a Store, or in one as it was at some moment. One
// goroutine at a time uses it.
type Reader interface {
	// Each calls f with the keys from one to another, in order, until it returns
	// false. What f is given is valid during the call.
	Each(from, to []byte, f func(key, value []byte) bool) error
	Close() error
}
