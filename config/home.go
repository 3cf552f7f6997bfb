package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// HomeVariable is the environment variable that names the home directory.
const HomeVariable = "WEIR_HOME"

// Home is the directory of everything that belongs to one installation:
// $WEIR_HOME, or .weir in the user's home directory.
func Home() string {
	if home := os.Getenv(HomeVariable); home != "" {
		if absolute, err := filepath.Abs(home); err == nil {
			return absolute
		}
		return home
	}
	user, err := os.UserHomeDir()
	if err != nil {
		// A process without a home directory, such as one started with an
		// empty environment, keeps its files where temporary ones go.
		user = os.TempDir()
	}
	return filepath.Join(user, ".weir")
}

// Dir is the directory of config.yaml unless another is named.
func Dir() string { return filepath.Join(Home(), "conf") }

// RunDir is where pid files and sockets are: env.pid.dir, or run in Home.
func RunDir(c *Config) string { return directory(c, PIDDirectory, "run") }

// LogDir is where log files are: env.log.dir, or log in Home.
func LogDir(c *Config) string { return directory(c, LogDirectory, "log") }

// BlobDir is where artifacts are: blob.storage.directory, or blobs in Home.
func BlobDir(c *Config) string { return directory(c, BlobStorageDirectory, "blobs") }

// TempDirs are the directories for temporary files: io.tmp.dirs, or tmp in
// Home. There is at least one.
func TempDirs(c *Config) []string {
	if dirs, ok := TmpDirs.Lookup(c); ok && len(dirs) > 0 {
		return dirs
	}
	return []string{filepath.Join(Home(), "tmp")}
}

func directory(c *Config, o Option[string], below string) string {
	if dir := o.In(c); dir != "" {
		return dir
	}
	return filepath.Join(Home(), below)
}

//go:embed default.yaml
var defaultFile []byte

// WriteDefault makes dir and, unless there is one, a config.yaml in it that
// holds the settings of a small cluster on one host, with comments. It never
// changes a file that exists.
func WriteDefault(dir string) error {
	path := filepath.Join(dir, FileName)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the configuration directory: %w", err)
	}
	// The content appears under its name only when it is complete, and a
	// process that does the same at the same time is not disturbed.
	draft, err := os.CreateTemp(dir, FileName+".*")
	if err != nil {
		return fmt.Errorf("write the default configuration to %s: %w", path, err)
	}
	defer os.Remove(draft.Name())
	_, err = draft.Write(defaultFile)
	if err = errors.Join(err, draft.Chmod(0o644), draft.Close()); err != nil {
		return fmt.Errorf("write the default configuration to %s: %w", path, err)
	}
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("write the default configuration to %s: %w", path, err)
	}
	return nil
}
