package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Limits on a configuration file, so that one made of nested aliases cannot
// grow without end.
const (
	maxYAMLDepth    = 32
	maxYAMLSettings = 10_000
)

// parseYAML reads nested or flat keys: the names along a path are joined by
// dots. A list becomes text with semicolons, a null leaves its key unset. file
// names the source in problems, each of which has its line.
func parseYAML(content []byte, file string) (map[string]setting, []Problem) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, []Problem{yamlProblem(file, err)}
	}
	y := &yamlReader{file: file, settings: map[string]setting{}, lines: map[string]int{}}
	var second yaml.Node
	switch err := decoder.Decode(&second); {
	case err == nil:
		y.report(&second, "", "a second document begins", "keep all settings in one document")
	case !errors.Is(err, io.EOF):
		return nil, []Problem{yamlProblem(file, err)}
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		if root.Tag != "!!null" {
			y.report(root, "", "the file holds no settings", "write lines of the form \"key: value\"")
		}
		return y.settings, y.problems
	}
	y.mapping(root, "", 0)
	return y.settings, y.problems
}

type yamlReader struct {
	file     string
	settings map[string]setting
	lines    map[string]int // where each key of settings stood
	problems []Problem
	full     bool // maxYAMLSettings was reached, and reading has ended
}

func (y *yamlReader) report(at *yaml.Node, key, what, fix string) {
	y.problems = append(y.problems, Problem{Origin: y.at(at.Line), Key: key, What: what, Fix: fix})
}

func (y *yamlReader) at(line int) string { return fmt.Sprintf("%s:%d", y.file, line) }

func (y *yamlReader) mapping(node *yaml.Node, prefix string, depth int) {
	if depth > maxYAMLDepth {
		y.report(node, prefix, fmt.Sprintf("nested more than %d levels deep", maxYAMLDepth), "")
		return
	}
	for i := 0; i+1 < len(node.Content) && !y.full; i += 2 {
		name, value := resolve(node.Content[i]), resolve(node.Content[i+1])
		if name.Kind != yaml.ScalarNode || name.Value == "" || name.Tag == "!!merge" {
			y.report(name, prefix, "a key is not plain text", "")
			continue
		}
		key := name.Value
		if prefix != "" {
			key = prefix + "." + name.Value
		}
		y.value(name, value, key, depth)
	}
}

func (y *yamlReader) value(name, value *yaml.Node, key string, depth int) {
	switch {
	case value.Kind == yaml.MappingNode:
		y.mapping(value, key, depth+1)
	case value.Kind == yaml.SequenceNode:
		y.sequence(name, value, key)
	case value.Tag == "!!null":
		// A section whose lines are all commented out.
	default:
		y.set(name, key, value.Value)
	}
}

func (y *yamlReader) sequence(name, node *yaml.Node, key string) {
	elements := make([]string, 0, len(node.Content))
	for _, item := range node.Content {
		item = resolve(item)
		switch item.Kind {
		case yaml.ScalarNode:
			elements = append(elements, item.Value)
		case yaml.MappingNode:
			entries, ok := scalarEntries(item)
			if !ok {
				y.report(item, key, "a list holds something other than text or flat maps", "")
				return
			}
			elements = append(elements, formatMap(entries))
		default:
			y.report(item, key, "a list holds another list", "")
			return
		}
	}
	y.set(name, key, formatList(elements))
}

func scalarEntries(node *yaml.Node) (map[string]string, bool) {
	entries := map[string]string{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := resolve(node.Content[i]), resolve(node.Content[i+1])
		if name.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode {
			return nil, false
		}
		entries[name.Value] = value.Value
	}
	return entries, true
}

func (y *yamlReader) set(name *yaml.Node, key, value string) {
	if first, twice := y.lines[key]; twice {
		y.report(name, key, fmt.Sprintf("set twice, first in line %d", first), "keep one of them")
		return
	}
	if len(y.settings) == maxYAMLSettings {
		y.full = true
		y.report(name, key, fmt.Sprintf("more than %d settings", maxYAMLSettings), "")
		return
	}
	y.lines[key] = name.Line
	y.settings[key] = setting{value: value, origin: y.at(name.Line)}
}

// resolve follows an alias to what it stands for.
func resolve(node *yaml.Node) *yaml.Node {
	for steps := 0; node.Kind == yaml.AliasNode && node.Alias != nil && steps < maxYAMLDepth; steps++ {
		node = node.Alias
	}
	return node
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// yamlProblem moves the line number in the library's error to where ours are.
func yamlProblem(file string, err error) Problem {
	message := err.Error()
	origin := file
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		message = message[len(m[0]):]
		if m[1] != "" {
			origin = file + ":" + m[1]
		}
	}
	return Problem{Origin: origin, What: "not valid YAML: " + message, Fix: "one \"key: value\" a line, nested by spaces"}
}
