package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// FileName is the name of the configuration file in its directory.
const FileName = "config.yaml"

// PropertiesVariable is the environment variable with settings, one
// "key: value" a line. It is what FLINK_PROPERTIES is to Flink's images.
const PropertiesVariable = "WEIR_PROPERTIES"

// Load reads dir/config.yaml, then WEIR_PROPERTIES, then dynamic, each of the
// form "key=value"; what comes later wins, under whichever of its names an
// option is written. "key" alone means "key=true". An empty dir means no file;
// otherwise the file must be there.
//
// All problems of all sources are collected in one *Error.
func Load(dir string, dynamic []string) (*Config, error) {
	settings := map[string]setting{}
	var problems []Problem
	for _, source := range []func() (map[string]setting, []Problem){
		func() (map[string]setting, []Problem) { return readFile(dir) },
		func() (map[string]setting, []Problem) { return readProperties(os.Getenv(PropertiesVariable)) },
		func() (map[string]setting, []Problem) { return readDynamic(dynamic) },
	} {
		layer, found := source()
		problems = append(problems, found...)
		overlay(settings, layer)
	}
	return build(settings, problems)
}

// overlay puts layer over base. An option that layer sets loses the other
// names base has set it under, which would win or contradict otherwise.
func overlay(base, layer map[string]setting) {
	for key, s := range layer {
		for _, alias := range aliases(key) {
			if _, both := layer[alias]; !both {
				delete(base, alias)
			}
		}
		base[key] = s
	}
}

// aliases returns the names, other than key, of the options that key sets. An
// old name shared by two options replaces both, and a present key does not
// remove such a shared name, because the other option still needs it.
func aliases(key string) []string {
	var names []string
	if option, ok := registry[key]; ok {
		formerly, _ := option.otherNames()
		for _, old := range formerly {
			if len(formerNames[old]) == 1 {
				names = append(names, old)
			}
		}
	}
	for _, current := range formerNames[key] {
		names = append(names, current)
		formerly, _ := registry[current].otherNames()
		for _, old := range formerly {
			if old != key {
				names = append(names, old)
			}
		}
	}
	return names
}

func readFile(dir string) (map[string]setting, []Problem) {
	if dir == "" {
		return nil, nil
	}
	path := filepath.Join(dir, FileName)
	content, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, []Problem{{Origin: path, What: "the configuration file does not exist", Fix: "create it, or name its directory with --config-dir"}}
	case err != nil:
		return nil, []Problem{{Origin: path, What: "the configuration file cannot be read: " + err.Error()}}
	}
	return parseYAML(content, path)
}

func readProperties(text string) (map[string]setting, []Problem) {
	settings := map[string]setting{}
	var problems []Problem
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		origin := fmt.Sprintf("%s:%d", PropertiesVariable, number)
		key, value, found := strings.Cut(line, ":")
		key = strings.TrimSpace(key)
		if !found || key == "" {
			problems = append(problems, Problem{Origin: origin, What: "a line is not of the form \"key: value\""})
			continue
		}
		settings[key] = setting{value: unquote(value), origin: origin}
	}
	return settings, problems
}

// unquote trims value, drops a comment after it, and removes quotes around it.
func unquote(value string) string {
	value = strings.TrimSpace(value)
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		return value[1 : n-1]
	}
	value, _, _ = strings.Cut(value, " #")
	return strings.TrimSpace(value)
}

func readDynamic(dynamic []string) (map[string]setting, []Problem) {
	settings := map[string]setting{}
	var problems []Problem
	for _, d := range dynamic {
		key, value, found := strings.Cut(d, "=")
		key = strings.TrimSpace(key)
		if key == "" {
			problems = append(problems, Problem{Origin: "-D", What: fmt.Sprintf("%q is not of the form key=value", d)})
			continue
		}
		if !found {
			value = "true"
		}
		settings[key] = setting{value: value, origin: "-D"}
	}
	return settings, problems
}
