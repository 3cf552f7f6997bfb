package process

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/weirstream/weir/internal/memory"
	"github.com/weirstream/weir/internal/status"
)

// memoryAdvice names the options that a worker's memory follows from.
const memoryAdvice = "taskmanager.memory.process.size raises the limit, and fewer slots (taskmanager.numberOfTaskSlots) let each have more of it"

// explainExit says why a process ended that was not asked to. limit is what
// memory it was allowed, if not zero; oom is what its control group knows of it.
func explainExit(job string, state *os.ProcessState, stderr *stderrTail, limit memory.Size, oom *memoryUse) *status.Failure {
	f := &status.Failure{Stderr: text(stderr.tail), PeakMemory: peakMemory(state)}
	crash := text(stderr.crash)
	first, _, _ := strings.Cut(crash, "\n")
	code, signal := state.ExitCode(), exitSignal(state)
	switch {
	case oom != nil:
		f.Kind, f.Signal = status.FailureMemory, signal
		f.Message = fmt.Sprintf("the process of job %s used more memory than it may: its limit is %s, its peak was %s; %s", job, memory.Size(oom.limit), memory.Size(oom.peak), memoryAdvice)
	case refusedMemory(first), ranOut(first, memory.Size(f.PeakMemory), limit):
		f.Kind, f.Message, f.Stack, f.Exit = status.FailureMemory, first, crash, code
		if limit > 0 {
			f.Message = fmt.Sprintf("the process of job %s used more memory than it may: its limit is %s, its peak was %s; %s (%s)", job, limit, memory.Size(f.PeakMemory), memoryAdvice, first)
		}
	case signal != "":
		f.Kind, f.Signal = status.FailureSignal, signal
		f.Message = "the job's process was killed by " + signal
		if signal == "SIGKILL" {
			f.Message += "; nobody here sent it, so it may have been the kernel, for want of memory on the machine"
		}
	case code == 2 && first != "":
		f.Kind, f.Message, f.Stack, f.Exit = status.FailurePanic, first, crash, code
	default:
		f.Kind, f.Exit = status.FailureExit, code
		f.Message = fmt.Sprintf("the job's process ended by itself with exit code %d", code)
	}
	return f
}

// refusedMemory tells by the first line of a crash whether the Go runtime was refused
// memory, and says so.
func refusedMemory(first string) bool {
	return strings.HasPrefix(first, "fatal error: ") && (strings.Contains(first, "out of memory") || strings.Contains(first, "cannot allocate memory"))
}

// ranOut tells whether the Go runtime has crashed in a process with more memory than it
// may have: it does not look at each place whether it was given what it had asked for.
func ranOut(first string, peak, limit memory.Size) bool {
	return limit > 0 && peak > limit && strings.HasPrefix(first, "SIGSEGV: ")
}

func text(b []byte) string { return strings.ToValidUTF8(string(bytes.TrimRight(b, "\n")), "?") }

// explainStart says why a program could not be started.
func explainStart(path, name string, err error) *status.Failure {
	f := status.FailureOf(err)
	here := runtime.GOOS + "/" + runtime.GOARCH
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		f.Message = fmt.Sprintf("it is not a program this machine (%s) can run: %s", here, looksLike(path))
	case errors.Is(err, fs.ErrNotExist):
		f.Message = "the program, or the interpreter or dynamic loader it names, is not on this machine; build it with CGO_ENABLED=0"
	case errors.Is(err, fs.ErrPermission):
		f.Message = "the program may not be executed where it is stored; is the file system mounted noexec?"
	}
	f.Kind, f.Chain = status.FailureError, []string{"start the program " + name}
	return f
}

// looksLike says in a few words what a file is.
func looksLike(path string) string {
	head := make([]byte, 20)
	n, err := 0, error(nil)
	if file, openErr := os.Open(path); openErr == nil {
		n, err = io.ReadFull(file, head)
		file.Close()
	}
	switch {
	case n == 0 && err == io.EOF:
		return "it is empty"
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)) && n == len(head):
		var order binary.ByteOrder = binary.LittleEndian
		if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
			order = binary.BigEndian
		}
		return fmt.Sprintf("it is a program for another processor or damaged, its header says %s", elf.Machine(order.Uint16(head[18:])))
	case bytes.HasPrefix(head, []byte("PK")):
		return "it is an archive, such as a jar for the Java virtual machine"
	case bytes.HasPrefix(head, []byte("MZ")):
		return "it is a program for Windows"
	case bytes.HasPrefix(head, []byte{0xcf, 0xfa, 0xed, 0xfe}) || bytes.HasPrefix(head, []byte{0xca, 0xfe, 0xba, 0xbe}):
		return "it is a program for macOS"
	}
	return "it is no program"
}
