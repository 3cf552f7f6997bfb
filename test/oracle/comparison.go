package main

import "fmt"

// verdict is how one answer compares with the recording.
type verdict uint8

const (
	equal verdict = iota
	differs
	refused
)

func newComparison() *comparison { return &comparison{groups: map[string]*counts{}} }

// count counts an answer.
func (c *comparison) count(group string, v verdict) {
	if c.groups[group] == nil {
		c.groups[group] = &counts{}
	}
	for _, n := range []*counts{&c.total, c.groups[group]} {
		switch v {
		case equal:
			n.equal++
		case differs:
			n.differ++
		default:
			n.refused++
		}
	}
}

// differ counts an answer that is not the recorded one, and keeps both.
func (c *comparison) differ(group string, v verdict, name, asked, recorded, given string) {
	c.count(group, v)
	c.differences = append(c.differences, fmt.Sprintf("%s\n%s\nrecorded:\n%s\ngiven:\n%s\n", name, asked, recorded, given))
}
