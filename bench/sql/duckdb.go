package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/weirstream/weir/bench/tpch"
)

//go:embed duckdb.py
var duckdbProgram string

// duckdbVersion is the one that is installed when there is none yet.
const duckdbVersion = "2.0.1"

// duckdb is DuckDB in a Python process that answers one statement after another.
type duckdb struct {
	version string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// installDuckDB makes a virtual environment with DuckDB from PyPI, unless the
// directory has one.
func installDuckDB(ctx context.Context, dir string, log io.Writer) (python string, err error) {
	python = filepath.Join(dir, "bin", "python")
	if exec.CommandContext(ctx, python, "-c", "import duckdb").Run() == nil {
		return python, nil
	}
	if _, err := exec.LookPath("python3"); err != nil {
		return "", errors.New("DuckDB needs Python 3: there is no python3 on the path")
	}
	fmt.Fprintf(log, "installing DuckDB %s from PyPI into %s\n", duckdbVersion, dir)
	for _, arguments := range [][]string{
		{"python3", "-m", "venv", dir},
		{python, "-m", "pip", "install", "--quiet", "duckdb==" + duckdbVersion},
	} {
		if out, err := exec.CommandContext(ctx, arguments[0], arguments[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("install DuckDB: %w: %s", err, out)
		}
	}
	return python, nil
}

// openDuckDB starts DuckDB with so many threads and lets it read the tables in dir.
func openDuckDB(ctx context.Context, python string, threads int, dir string) (*duckdb, error) {
	d := &duckdb{cmd: exec.CommandContext(ctx, python, "-c", duckdbProgram, strconv.Itoa(threads))}
	d.cmd.Stderr = os.Stderr
	var err error
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start DuckDB: %w", err)
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start DuckDB: %w", err)
	}
	d.out = bufio.NewReader(out)
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start DuckDB: %w", err)
	}
	hello, err := d.receive()
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	d.version = hello.Version
	for _, t := range tpch.Tables {
		if dir == "" {
			break
		}
		if _, _, err := d.query(ctx, t.CreateView(dir)); err != nil {
			return nil, errors.Join(err, d.close())
		}
	}
	return d, nil
}

type duckdbReply struct {
	Version, Error string
	Rows           [][]string
	Types          []string
	Wall, CPU      float64
}

func (d *duckdb) receive() (duckdbReply, error) {
	var r duckdbReply
	line, err := d.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &r)
	}
	if err != nil {
		return r, fmt.Errorf("ask DuckDB: %w", err)
	}
	if r.Error != "" {
		return r, errors.New("DuckDB: " + r.Error)
	}
	return r, nil
}

func (d *duckdb) query(_ context.Context, sql string) (answer, cost, error) {
	line, err := json.Marshal(map[string]string{"sql": sql})
	if err == nil {
		_, err = d.in.Write(append(line, '\n'))
	}
	if err != nil {
		return answer{}, cost{}, fmt.Errorf("ask DuckDB: %w", err)
	}
	r, err := d.receive()
	a := answer{rows: r.Rows}
	for _, t := range r.Types {
		a.doubles = append(a.doubles, t == "DOUBLE" || t == "FLOAT")
	}
	return a, cost{wall: r.Wall, cpu: r.CPU}, err
}

// close ends the process, which ends with its input.
func (d *duckdb) close() error {
	err := d.in.Close()
	if ended := d.cmd.Wait(); ended != nil {
		err = errors.Join(err, fmt.Errorf("end DuckDB: %w", ended))
	}
	return err
}
