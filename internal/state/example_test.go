package state_test

import (
	"bytes"
	"fmt"

	"github.com/weirstream/weir/internal/state"
)

// A subtask counts words, is saved, and another one goes on with the count.
func Example() {
	open := func() (*state.Keyed[string], *state.Reducing[int64]) {
		keyed, err := state.NewKeyed[string](state.Options{Operator: "count", Last: 127, Max: 128})
		if err != nil {
			panic(err)
		}
		count, err := state.NewReducing(keyed.Backend, "count", func(n, more int64) int64 { return n + more })
		if err != nil {
			panic(err)
		}
		return keyed, count
	}

	keyed, count := open()
	for _, word := range []string{"to", "be", "or", "not", "to", "be"} {
		keyed.SetKey(word, keyed.Hash(word))
		count.Add(1)
	}
	var file bytes.Buffer
	snapshot := keyed.Freeze() // what comes now is not in it
	count.Add(100)
	if _, err := snapshot.Write(&file, "chk-1/count", nil); err != nil { // on another goroutine
		panic(err)
	}

	keyed, count = open()
	f, err := state.OpenFile("chk-1/count", bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		panic(err)
	}
	for _, group := range f.Locations() {
		if err := keyed.Restore(f, group); err != nil {
			panic(err)
		}
	}
	keyed.SetKey("be", keyed.Hash("be"))
	count.Add(1)
	fmt.Println(count.Get())
	// Output: 3 true
}
