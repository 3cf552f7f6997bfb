// Package addressfile is how a JobManager process tells others on its host where
// it listens: the ports may have been chosen by the system.
//
// It promises that a file that can be read is complete. It never says whether
// the process still runs.
package addressfile

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Addresses are where one JobManager process listens.
type Addresses struct {
	REST string `json:"rest"` // host:port
	RPC  string `json:"rpc"`  // host:port
}

// Path is the file of the JobManager with the process id.
func Path(runDir string, pid int) string {
	return filepath.Join(runDir, fmt.Sprintf("jobmanager-%d.address", pid))
}

// Write makes or replaces the file, and its directory.
func Write(path string, a Addresses) error {
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("write the addresses to %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write the addresses to %s: %w", path, err)
	}
	draft := path + ".new"
	if err := os.WriteFile(draft, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the addresses to %s: %w", path, err)
	}
	if err := os.Rename(draft, path); err != nil {
		return fmt.Errorf("write the addresses to %s: %w", path, err)
	}
	return nil
}

// Read reads the file; ok is false while there is none.
func Read(path string) (a Addresses, ok bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Addresses{}, false, nil
	}
	if err != nil {
		return Addresses{}, false, fmt.Errorf("read the JobManager's addresses: %w", err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return Addresses{}, false, fmt.Errorf("read the JobManager's addresses from %s: %w", path, err)
	}
	return a, true, nil
}

// Remove removes the file. Removing one that is not there does nothing.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the JobManager's addresses: %w", err)
	}
	return nil
}
