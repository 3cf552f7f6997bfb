package process

import "testing"

func FuzzSharedPages(f *testing.F) {
	f.Add([]byte("1234 500 77 1 0 3 0\n"))
	f.Add([]byte("1 2 -3"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, statm []byte) {
		if sharedPages(statm) < 0 {
			t.Error("less than none")
		}
	})
}
