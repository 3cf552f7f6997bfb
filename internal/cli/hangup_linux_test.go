package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal makes a terminal: what is typed and shown, and what a process has as
// its own. It is gone when the first is closed.
func terminal(t *testing.T) (outside, inside *os.File) {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	t.Cleanup(func() { outside.Close() })
	if err := unix.IoctlSetPointerInt(int(outside.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(outside.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	inside, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	t.Cleanup(func() { inside.Close() })
	return outside, inside
}

// A process in a terminal reads its configuration again when it gets the signal
// SIGHUP, and ends when its terminal is gone.
func TestHangups(t *testing.T) {
	outside, inside := terminal(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Args = []string{"weir", "historyserver", "-D", "historyserver.archive.fs.dir=" + t.TempDir(), "-D", "historyserver.web.port=0"}
	cmd.Env = append(os.Environ(), "WEIR_HOME="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inside, inside, inside
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	// Who runs the tests may have them ignore the signal, as nohup does, and the
	// process would inherit that. One that is caught here is not ignored there.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inside.Close()
	shown := bufio.NewScanner(outside)
	until := func(want string) {
		t.Helper()
		for shown.Scan() {
			if strings.Contains(shown.Text(), want) {
				return
			}
		}
		t.Fatalf("%q is not shown: %v", want, shown.Err())
	}
	until("history server started")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until("configuration read again")
	outside.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("after its terminal is gone: %v", err)
	}
}

// A terminal that does not say where its cursor is, such as one that a program has made
// to type into, can be used too.
func TestATerminalThatDoesNotAnswer(t *testing.T) {
	outside, inside := terminal(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Args = []string{"weir", "sql", "-D", "execution.target=local"}
	cmd.Env = append(os.Environ(), "WEIR_HOME="+t.TempDir(), "HOME="+t.TempDir(), "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inside, inside, inside
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inside.Close()
	if _, err := outside.WriteString("HELP;\rQUIT;\r"); err != nil {
		t.Fatal(err)
	}
	shown, _ := io.ReadAll(outside) // it ends with an error when the other side is closed
	if err := cmd.Wait(); err != nil || !strings.Contains(string(shown), "The following commands are available") {
		t.Errorf("it ends with %v and has shown %q", err, shown)
	}
}
