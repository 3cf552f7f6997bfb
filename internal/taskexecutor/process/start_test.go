package process

import (
	"os/exec"
	"testing"
)

// A program on a disk that hangs is being started for as long as that does, and
// whoever asks for its end meanwhile must not wait.
func TestAWorkerThatIsBeingStartedIsKilledAfterwards(t *testing.T) {
	c := &child{launcher: New(Options{}), began: true}
	cmd := exec.Command("sleep", "1h")
	cmd.SysProcAttr = attributes()
	hangs, goOn := make(chan struct{}), make(chan struct{})
	started := make(chan error)
	stdin := &closed{}
	go func() {
		started <- c.startCommand(func() error {
			close(hangs)
			<-goOn
			return cmd.Start()
		}, func() int { return cmd.Process.Pid }, stdin)
	}()
	<-hangs
	c.Stop()
	c.Kill() // neither waits, or the test ends here
	close(goOn)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.Success() {
		t.Errorf("the program ended as %v, want it killed", err)
	}
	if !stdin.closed {
		t.Error("its standard input was not closed")
	}
}

type closed struct{ closed bool }

func (c *closed) Close() error {
	c.closed = true
	return nil
}
