package state

import (
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/weirstream/weir/internal/state/disk"
	"github.com/weirstream/weir/internal/state/pebble"
)

// scarcity is the memory of backends in tests whose state is on a disk; 0: all is in
// memory. It is less than empty tables take, so that a key is on the disk soon after
// it was used.
var scarcity int

var (
	disks  = pebble.InMemory(1 << 20)
	serial atomic.Int64
	turns  atomic.Int64
)

// scarce returns the options of a backend of the kind that is tested. When that is on
// a disk, one in three is in memory, so that snapshots of one are restored by the other.
func scarce(o Options) Options {
	if scarcity > 0 && turns.Add(1)%3 > 0 {
		o.Room = scarcity
		o.Disk = func() (disk.Store, error) { return disks.Open(fmt.Sprintf("state-%d", serial.Add(1)), 256<<10) }
	}
	return o
}

// TestMain runs all tests twice: with state in memory, and on a disk.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if benchmarks := flag.Lookup("test.bench"); code == 0 && benchmarks.Value.String() == "" {
		scarcity = 8 << 10
		fmt.Println("the same on a disk")
		if code = m.Run(); code == 0 && serial.Load() == 0 && flag.Lookup("test.run").Value.String() == "" {
			fmt.Println("no test has used the disk")
			code = 1
		}
	}
	os.Exit(code)
}
