package e2e

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"mime/multipart"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// upload sends bytes as a program.
func upload(name string, content func() []byte) func(*cluster) answer {
	return func(c *cluster) answer {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part, err := w.CreateFormFile("jarfile", name)
		if err == nil {
			_, err = part.Write(content())
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			c.t.Fatal(err)
		}
		status, text := c.ask("POST", "/jars/upload", w.FormDataContentType(), &form)
		return answer{status, text}
	}
}

func plain(text string) func() []byte { return func() []byte { return []byte(text) } }

// binaryHead gives the first n bytes of a program that works.
func binaryHead(n int64) func() []byte {
	return func() []byte {
		f, err := os.Open(filepath.Join(bin, "wordcount"))
		if err != nil {
			return nil
		}
		defer f.Close()
		head, _ := io.ReadAll(io.LimitReader(f, n))
		return head
	}
}

// forProcessor is a program whose header says that it is for another processor.
func forProcessor(m elf.Machine) func() []byte {
	return func() []byte {
		program := binaryHead(1 << 40)()
		binary.LittleEndian.PutUint16(program[18:], uint16(m))
		return program
	}
}

// jar is an archive with a class for the Java virtual machine.
func jar() []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"META-INF/MANIFEST.MF", "Main.class"} {
		if w, err := z.Create(name); err == nil {
			w.Write([]byte("\xca\xfe\xba\xbe\x00\x00\x00\x41"))
		}
	}
	z.Close()
	return b.Bytes()
}

// uploads are files that are no program for this cluster.
func uploads() []row {
	const advice = "Weir runs Go job binaries"
	return []row{
		{"upload of nothing", upload("job", plain("")), 400, []string{"job is empty."}},
		{"upload of a text", upload("job.txt", plain("hello\n")), 400, []string{"job.txt is a text file; " + advice}},
		{"upload of a script", upload("job.sh", plain("#!/bin/sh\nexit 0\n")), 400, []string{"is a script; " + advice}},
		{"upload of bytes", upload("job", plain("\x00\x01\x02\x03\xff")), 400, []string{"is not an executable file; " + advice}},
		{"upload of the beginning of a header", upload("job", binaryHead(30)), 400, []string{"is a damaged or truncated executable file"}},
		{"upload of the beginning of a program", upload("job", binaryHead(1<<20)), 400, []string{"truncated"}},
		{"upload for another processor", upload("job", forProcessor(elf.EM_S390)), 400, []string{"is a program for linux/s390x; this cluster runs", "GOARCH="}},
		{"upload of a jar", upload("job.jar", jar), 400, []string{"job.jar is a JVM program; " + advice}},
		{"upload with a path for a name", upload("../../escaped", plain("hello\n")), 400, []string{"escaped is a text file"}},
		{"upload without a name", upload("..", plain("hello\n")), 400, []string{"names no file"}},
		{"upload of too much", upload("job", func() []byte { return append([]byte("\x7fELF"), make([]byte, 68<<20)...) }), 413, nil},
		{"upload of no form", post("POST", "/jars/upload", "{}"), 400, []string{"Exactly 1 file must be sent, received 0."}},
		{"run of a text", func(c *cluster) answer {
			path := filepath.Join(c.t.TempDir(), "notes.txt")
			writeFile(c.t, path, "hello\n")
			return c.says("run", "-m", c.rest, path)
		}, 1, []string{"Could not upload ", "notes.txt is a text file"}},
		{"run of what is not there", func(c *cluster) answer { return c.says("run", "-m", c.rest, "/nowhere/job") }, 2, []string{"file does not exist: /nowhere/job"}},
		{"run of a directory that does not build", func(c *cluster) answer { return c.says("run", "-m", c.rest, c.t.TempDir()) }, 1, []string{"Could not build ", "go.mod"}},
		{"run of another program", func(c *cluster) answer { return c.says("run", "-m", c.rest, "/bin/true") }, 1, []string{"No jobs included in application."}},
	}
}

// command3 runs a verb and gives all it has printed.
func (c *cluster) says(args ...string) answer {
	c.t.Helper()
	out, errOut, code := c.weir(args...)
	return answer{code, out + errOut}
}

// attached runs a program to its end and adds what REST knows of its failure.
func attached(program string, args ...string) func(*cluster) answer {
	return func(c *cluster) answer {
		out, errOut, code := c.run(nil, program, args...)
		got := answer{code, out + errOut}
		if m := submitted.FindStringSubmatch(out); m != nil {
			got.text += c.cause(m[1])
		}
		return got
	}
}

// canceled runs a program until ready, and cancels it.
func canceled(ready func(c *cluster, job string), mode string) func(*cluster) answer {
	return func(c *cluster) answer {
		job := c.detached("misbehave", mode)
		ready(c, job)
		c.cancel(job)
		return answer{0, c.cause(job)}
	}
}

// programs are those that go wrong while the witness runs beside them.
func programs() []row {
	running := func(c *cluster, job string) { c.running(job) }
	return []row{
		{"program that never calls Execute", attached("misbehave", "no-execute"), 1, []string{"Could not run ", "it ended without calling Execute"}},
		{"program that exits before Execute", attached("misbehave", "plan-exit"), 1, []string{"giving up before Execute", "exit status 1"}},
		{"program that panics before Execute", attached("misbehave", "plan-panic"), 1, []string{"panic: misbehave: before Execute", "main.go"}},
		{"program that returns an error", attached("misbehave", "error"), 1, []string{"Culprit", "not a number: abc"}},
		{"program that panics", attached("misbehave", "panic"), 1, []string{"panic: index of nothing", "Culprit", "misbehave/main.go"}},
		{"program that panics beside its tasks", attached("misbehave", "goroutine-panic"), 1, []string{"panic: far from any task"}},
		{"program that exits", attached("misbehave", "exit"), 1, []string{"ended by itself with exit code 7"}},
		{"program that kills itself", attached("misbehave", "kill-self"), 1, []string{"killed by SIGKILL"}},
		{"program that fails in Open", attached("misbehave", "open-error"), 1, []string{"cannot open what does not exist", "Culprit"}},
		{"program that builds another graph in the worker", attached("misbehave", "two-graphs"), 1, []string{`operator 2 is \"Only in the worker\", submitted was \"Culprit\"`}},
		{"program that loops for ever", canceled(running, "loop"), 0, nil},
		{"program that waits for ever in Open", canceled(func(c *cluster, job string) {
			c.until("tasks deployed", func() bool { return strings.Contains(c.tasks(job), `"INITIALIZING":1`) })
		}, "open-deadlock"), 0, nil},
		{"program that prints without end", func(c *cluster) answer {
			got := canceled(func(c *cluster, _ string) {
				c.until("a log of output is full", func() bool { return len(c.outLogs()) > 1 })
			}, "stdout")(c)
			for name, size := range c.outLogs() {
				if size > 1<<20 {
					got.text += fmt.Sprintf("%s has %d bytes", name, size)
					got.code = 1
				}
			}
			return got
		}, 0, nil},
	}
}

// tasks is the counts of the states of a job's tasks, as text.
func (c *cluster) tasks(job string) string {
	_, text := c.ask("GET", "/jobs/"+job, "", nil)
	return text
}

// outLogs are the files that workers' output goes to, with their sizes.
func (c *cluster) outLogs() map[string]int64 {
	sizes := map[string]int64{}
	paths, _ := filepath.Glob(filepath.Join(c.home, "log", "*taskmanager*.out*"))
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			sizes[filepath.Base(p)] = info.Size()
		}
	}
	return sizes
}

// inputs are files and directories that cannot be read or written as asked.
func inputs(t *testing.T) []row {
	dir := t.TempDir()
	good := filepath.Join(dir, "good", "text")
	os.Mkdir(filepath.Dir(good), 0o777)
	writeFile(t, good, "to be\n")
	link := filepath.Join(dir, "links", "gone")
	os.Mkdir(filepath.Dir(link), 0o777)
	os.Symlink("nowhere", link)
	long := filepath.Join(dir, "long")
	writeFile(t, long, "short\n")
	if f, err := os.OpenFile(long, os.O_WRONLY, 0); err == nil {
		f.Truncate(100 << 20) // zeros, without a line end
		f.Close()
	}
	bytesThatAreNoText := filepath.Join(dir, "bytes")
	writeFile(t, bytesThatAreNoText, "good \xff\xfe bad\x80x\n")
	full := filepath.Join(dir, "full")
	os.Mkdir(full, 0o777)
	writeFile(t, full+"/precious", "")
	count := func(input, output string) func(*cluster) answer {
		return attached("wordcount", "--input", input, "--output", output)
	}
	fresh := filepath.Join(dir, "counts")
	return []row{
		{"glob that matches nothing", count(dir+"/*.nothing", fresh), 1, []string{`no file matches \"` + dir + `/*.nothing\"`}},
		{"glob that is none", count(dir+"/[", fresh), 1, []string{"is not a glob"}},
		{"link that leads nowhere", count(link, fresh), 1, []string{link + " is a symbolic link to nowhere, which does not exist"}},
		{"link that leads nowhere in a directory", count(filepath.Dir(link), fresh), 1, []string{link + " is a symbolic link to nowhere, which does not exist"}},
		{"line of 100 MB", count(long, fresh), 1, []string{long, "the line that begins at byte 6 is longer than 16777216 bytes, the longest allowed"}},
		{"text that is not UTF-8", func(c *cluster) answer {
			got := count(bytesThatAreNoText, dir+"/bytes-counts")(c)
			if words := strings.Join(lines(c.t, dir+"/bytes-counts"), " "); words != "bad\t1 good\t1 x\t1" {
				c.t.Errorf("counted %q", words)
			}
			return got
		}, 0, nil},
		{"output directory that holds something", count(good, full), 1, []string{"output directory " + full + " exists and is not empty: remove it or choose another"}},
		{"output directory that is a file", count(good, good), 1, []string{"output directory " + good}},
		{"output directory below a file", count(good, good+"/counts"), 1, []string{good, "not a directory"}},
		{"no arguments", attached("wordcount"), 1, []string{"no --input", "-output directory"}},
	}
}

// smallMemory is the configuration of a TaskManager that takes 300 MB.
var smallMemory = []string{"taskmanager.memory.process.size=300mb", "taskmanager.memory.jvm-metaspace.size=16mb", "taskmanager.memory.jvm-overhead.min=16mb",
	"taskmanager.memory.framework.heap.size=32mb", "taskmanager.memory.framework.off-heap.size=16mb", "taskmanager.memory.network.min=16mb"}

// memory is what takes more of it than it may.
func memory() []row {
	return []row{
		{"program that allocates without end", attached("misbehave", "allocate"), 1, []string{"memory", "limit"}},
	}
}
