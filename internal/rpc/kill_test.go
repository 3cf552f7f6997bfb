package rpc_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/rpc"
)

// TestKilledProcess kills a real process. The child of this test serves until
// then.
func TestKilledProcess(t *testing.T) {
	if at := os.Getenv("WEIR_TEST_LISTEN"); at != "" {
		sys := listen(t, at)
		serveEcho(t, sys)
		fmt.Println("at", sys.Self())
		select {}
	}
	c := newCaller(t)
	for _, at := range []string{"127.0.0.1:0", "unix:" + filepath.Join(t.TempDir(), "s")} {
		child := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
		child.Env = append(os.Environ(), "WEIR_TEST_LISTEN="+at)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		process, ok := strings.CutPrefix(strings.TrimSpace(line), "at ")
		if !ok {
			t.Errorf("the child said %q, %v", line, err)
		} else {
			lost := make(chan error, 1)
			c.sys.Watch(c.loop, process, func(cause error) { lost <- cause })
			c.mustEcho(t, process)
			killed := time.Now()
			child.Process.Kill()
			cause := <-lost
			t.Logf("%s: lost after %s: %v", process, time.Since(killed), cause)
			if _, err := c.call(process, ""); !errors.Is(err, rpc.ErrUnreachable) || errors.Is(err, rpc.ErrDisconnected) {
				t.Errorf("call to the dead: %v", err)
			}
		}
		child.Process.Kill()
		child.Wait() // it was killed: an error, as it should be
	}
}
