package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weirstream/weir/bench/figure"
	"github.com/weirstream/weir/client"
)

// The jobs of state run over so many records and keys, so often.
const (
	stateRuns    = 2
	stateRecords = 10_000_000
	stateKeys    = 1_000_000

	restores     = 3
	restoredKeys = 11_000_000 // of 24 bytes in a checkpoint
)

// MeasureState measures jobs that keep keyed state with a checkpoint each second, in
// memory and on disk: what their records cost, and how soon they run again when a
// TaskManager is killed that has half of 256 MB of state. The text is not used.
func MeasureState(ctx context.Context, p Programs, _ string, log io.Writer) Measurement {
	m := Measurement{figure.Values{}, map[string]error{}}
	var parts []part
	for _, backend := range []string{"hashmap", "rocksdb"} {
		parts = append(parts,
			part{[]string{"keyed " + backend}, func() error { return m.keyed(ctx, p, backend) }},
			part{[]string{"restored " + backend}, func() error { return m.restored(ctx, p, backend) }})
	}
	m.make(log, parts)
	return m
}

// keeping is the configuration of a job that keeps state, with checkpoints in a
// directory.
func keeping(backend, directory string) map[string]string {
	return map[string]string{
		"state.backend.type": backend, "execution.checkpointing.interval": "1 s", "execution.checkpointing.dir": directory,
		"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "1000000", "restart-strategy.fixed-delay.delay": "0 s",
	}
}

// keyed runs the keyed job so often.
func (m *Measurement) keyed(ctx context.Context, p Programs, backend string) error {
	for range stateRuns {
		rate, err := KeyedWithCheckpoints(ctx, p, backend, stateRecords)
		if err != nil {
			return err
		}
		m.Add("keyed "+backend, rate)
	}
	return nil
}

// KeyedWithCheckpoints runs the keyed job on two TaskManagers with a slot each and a
// checkpoint each second, and gives millions of records for a second of processor time.
func KeyedWithCheckpoints(ctx context.Context, p Programs, backend string, records int64) (rate float64, err error) {
	c, err := Start(ctx, p.Weir, 2, 1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	_, cpu, err := c.RunToEnd(ctx, p.Job, client.RunRequest{
		Arguments:     []string{"keyed", "n=" + strconv.FormatInt(records, 10), "keys=" + strconv.Itoa(stateKeys)},
		Parallelism:   2,
		Configuration: keeping(backend, filepath.Join(c.Home, "checkpoints")),
	})
	if err != nil {
		return 0, err
	}
	return float64(records) / cpu / 1e6, nil
}

// restored kills TaskManagers of a job with 256 MB of state, which has a slot to spare.
func (m *Measurement) restored(ctx context.Context, p Programs, backend string) (err error) {
	c, err := Start(ctx, p.Weir, 0, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	f := &fragile{Cluster: c, ids: map[string]*exec.Cmd{}}
	for range 3 {
		if err := f.addManager(ctx); err != nil {
			return err
		}
	}
	directory := filepath.Join(c.Home, "checkpoints")
	err = f.submit(ctx, p.Job, client.RunRequest{
		Arguments:     []string{"filled", "n=1000000000000", "keys=" + strconv.Itoa(restoredKeys)},
		Parallelism:   2,
		Configuration: keeping(backend, directory),
	})
	if err != nil {
		return err
	}
	for range restores {
		bytes, err := awaitCheckpoint(ctx, directory)
		if err != nil {
			return err
		}
		m.Add("restored bytes", float64(bytes)/1e6)
		took, err := f.killOne(ctx, 0)
		if err != nil {
			return err
		}
		m.Add("restored "+backend, took)
	}
	return nil
}

// filling bounds how long a job may take until its checkpoint has all keys.
const filling = 3 * time.Minute

// awaitCheckpoint waits until there is a complete checkpoint with all keys, newer than
// the call, and gives its bytes.
func awaitCheckpoint(ctx context.Context, directory string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, filling)
	defer cancel()
	since := time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		complete, err := filepath.Glob(filepath.Join(directory, "*", "chk-*", "_metadata"))
		if err != nil {
			return 0, err
		}
		for _, path := range complete {
			info, err := os.Stat(path)
			if err != nil || info.ModTime().Before(since) {
				continue // it is gone, or old
			}
			if bytes := bytesIn(filepath.Dir(path)); bytes > restoredKeys*24*95/100 {
				return bytes, nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for a checkpoint of all keys in %s: %w", directory, context.Cause(ctx))
		}
	}
}

// bytesIn is the size of all files of a directory.
func bytesIn(directory string) (bytes int64) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}
