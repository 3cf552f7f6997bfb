package rest

import (
	"encoding/json/jsontext"
	"fmt"
	"slices"
	"strings"
)

// A node is a JSON value that remembers the order of its fields.
type node struct {
	kind   string // null, bool, int, float, string, array, object
	text   string // of a scalar; strings without quotes
	keys   []string
	fields map[string]*node
	items  []*node
}

func parse(text string) (*node, error) {
	d := jsontext.NewDecoder(strings.NewReader(text))
	n, err := readNode(d)
	if err != nil {
		return nil, fmt.Errorf("no JSON: %w in %.100q", err, text)
	}
	return n, nil
}

func readNode(d *jsontext.Decoder) (*node, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 'n':
		return &node{kind: "null"}, nil
	case 't', 'f':
		return &node{kind: "bool", text: token.String()}, nil
	case '"':
		return &node{kind: "string", text: token.String()}, nil
	case '0':
		kind := "int"
		if strings.ContainsAny(token.String(), ".eE") {
			kind = "float"
		}
		return &node{kind: kind, text: token.String()}, nil
	case '[':
		n := &node{kind: "array"}
		for d.PeekKind() != ']' {
			item, err := readNode(d)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err := d.ReadToken()
		return n, err
	default:
		n := &node{kind: "object", fields: map[string]*node{}}
		for d.PeekKind() != '}' {
			key, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			name := key.String()
			if n.fields[name], err = readNode(d); err != nil {
				return nil, err
			}
			n.keys = append(n.keys, name)
		}
		_, err := d.ReadToken()
		return n, err
	}
}

// likeOne complains unless an item of ours has the shape of one of those
// recorded; some have fields that others lack.
func likeOne(recorded []*node, ours *node, path, key string, complain func(string, ...any)) {
	var first []func()
	for i, r := range recorded {
		var found []func()
		shape(r, ours, path, key, func(format string, args ...any) {
			found = append(found, func() { complain(format, args...) })
		})
		if len(found) == 0 {
			return
		}
		if i == 0 {
			first = found
		}
	}
	for _, tell := range first {
		tell()
	}
}

// unordered are the fields whose objects have no declared fields: their keys
// come in any order, and where open is true also differ.
var unordered = map[string]bool{
	"timestamps": false, "tasks": false, "status-counts": false, "status-duration": false, "metrics": false,
	"user-config": true, "failureLabels": true, "extendedResources": true, "accumulator-results": true, "jobs": true,
	"serialized-user-task-accumulators": true,
	"write-records":                     false, "accumulated-backpressured-time": false, "accumulated-idle-time": false, "write-bytes": false,
	"read-bytes": false, "read-records": false, "accumulated-busy-time": false,
	"CREATED": false, "RUNNING": false, "INITIALIZING": false, "SCHEDULED": false, "DEPLOYING": false,
}

// shape complains where ours lacks a field of the recording, has it at another
// place, or with another type.
func shape(recorded, ours *node, path, key string, complain func(string, ...any)) {
	switch {
	case recorded.kind == "null" || ours.kind == "null":
		return
	case recorded.text == "NaN" && ours.kind == "float", ours.text == "NaN" && recorded.kind == "float":
		return
	case recorded.kind != ours.kind:
		complain("%s: %s in the recording, %s here", path, recorded.kind, ours.kind)
		return
	}
	if recorded.kind == "array" {
		for i, item := range ours.items {
			likeOne(recorded.items, item, fmt.Sprintf("%s[%d]", path, i), key, complain)
		}
		return
	}
	open, free := unordered[key]
	if recorded.kind != "object" || open {
		return
	}
	at := -1
	for _, k := range recorded.keys {
		i := slices.Index(ours.keys, k)
		if i < 0 {
			complain("%s.%s: missing here", path, k)
			continue
		}
		if i < at && !free {
			complain("%s.%s: stands at another place in the recording, which has %v; ours are %v", path, k, recorded.keys, ours.keys)
		}
		at = max(at, i)
		shape(recorded.fields[k], ours.fields[k], path+"."+k, k, complain)
	}
}
