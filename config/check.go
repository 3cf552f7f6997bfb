package config

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/memory"
)

// Check reads the one configuration file at path, whatever its name, with
// dynamic over it, and nothing else. Unlike Load it also computes the memory of
// the processes whose memory the file sets, as they do when they start.
//
// All problems are collected in one *Error.
func Check(path string, dynamic []string) (*Config, error) {
	content, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{Problems: []Problem{{Origin: path, What: "the file does not exist"}}}
	case err != nil:
		return nil, &Error{Problems: []Problem{{Origin: path, What: "the file cannot be read: " + err.Error()}}}
	}
	settings, problems := parseYAML(content, path)
	if settings == nil {
		settings = map[string]setting{}
	}
	over, found := readDynamic(dynamic)
	overlay(settings, over)
	problems = append(problems, found...)
	c, err := build(settings, problems)
	if e, ok := errors.AsType[*Error](err); ok {
		problems = e.Problems
		// What can be read of the file is enough to tell whether its memory
		// adds up.
		c = &Config{settings: settings, values: map[string]any{}, raw: map[string]string{}}
		c.readOptions()
	}
	if err := errorOf(append(problems, c.memoryProblems(path, problems)...)); err != nil {
		return nil, err
	}
	return c, nil
}

// memoryProblems computes the memory of each kind of process of which c sets a
// size. A size that is no size has been reported already.
func (c *Config) memoryProblems(path string, reported []Problem) []Problem {
	var problems []Problem
	for prefix, compute := range map[string]func() error{
		"jobmanager.memory.":  func() error { _, err := memory.JobManager(c); return err },
		"taskmanager.memory.": func() error { _, err := memory.TaskManager(c); return err },
	} {
		wrong := slices.ContainsFunc(reported, func(p Problem) bool { return strings.HasPrefix(p.Key, prefix) })
		if !wrong && c.setsMemory(prefix) {
			if err := compute(); err != nil {
				problems = append(problems, Problem{Origin: path, What: err.Error()})
			}
		}
	}
	slices.SortFunc(problems, func(a, b Problem) int { return strings.Compare(a.What, b.What) })
	return problems
}

// setsMemory reports whether c sets a size or fraction that package memory reads
// of the keys with a prefix.
func (c *Config) setsMemory(prefix string) bool {
	for _, key := range memory.Keys() {
		if _, set := c.Get(key); set && strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}
