package recorded

import (
	"encoding/json/jsontext"
	"fmt"
	"strings"
)

// A Node is a JSON value that remembers the order of its fields.
type Node struct {
	Kind   string // null, bool, int, float, string, array, object
	Text   string // of a scalar; strings without quotes
	Keys   []string
	Fields map[string]*Node
	Items  []*Node
}

// Parse reads a JSON text.
func Parse(text string) (*Node, error) {
	d := jsontext.NewDecoder(strings.NewReader(text))
	n, err := readNode(d)
	if err != nil {
		return nil, fmt.Errorf("no JSON: %w in %.100q", err, text)
	}
	return n, nil
}

func readNode(d *jsontext.Decoder) (*Node, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 'n':
		return &Node{Kind: "null"}, nil
	case 't', 'f':
		return &Node{Kind: "bool", Text: token.String()}, nil
	case '"':
		return &Node{Kind: "string", Text: token.String()}, nil
	case '0':
		kind := "int"
		if strings.ContainsAny(token.String(), ".eE") {
			kind = "float"
		}
		return &Node{Kind: kind, Text: token.String()}, nil
	case '[':
		n := &Node{Kind: "array"}
		for d.PeekKind() != ']' {
			item, err := readNode(d)
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
		_, err := d.ReadToken()
		return n, err
	default:
		n := &Node{Kind: "object", Fields: map[string]*Node{}}
		for d.PeekKind() != '}' {
			key, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			name := key.String()
			if n.Fields[name], err = readNode(d); err != nil {
				return nil, err
			}
			n.Keys = append(n.Keys, name)
		}
		_, err := d.ReadToken()
		return n, err
	}
}
