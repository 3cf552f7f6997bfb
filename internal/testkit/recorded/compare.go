package recorded

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Differences says how an answer to the recorded request differs in shape from
// the recorded one: its status, a field that is missing, stands elsewhere or has
// another type, a field that nobody has listed as ours, a list or a value that is
// there in one of them only; and of an error, its texts.
func (r *Recording) Differences(status int, body string) []string {
	c := comparison{of: r.place()}
	switch recorded := r.Response.Status; {
	case recorded == 500 && status >= 400 && status < 500:
		return nil // what the caller did wrong is told as such
	case recorded != status:
		c.note("", "status %d, %d in the recording; ours: %.300s", status, recorded, body)
		return c.found
	}
	if r.Response.Kind != "json" {
		return nil
	}
	ours, err := Parse(body)
	if err != nil {
		return []string{err.Error()}
	}
	recorded, err := Parse(string(r.Response.Body))
	if err != nil {
		return []string{"the recording: " + err.Error()}
	}
	c.value(recorded, ours, "$")
	if recorded.Kind == "object" && recorded.Fields["errors"] != nil && len(c.found) == 0 {
		c.errors(recorded, ours)
	}
	return c.found
}

// comparison collects what differs.
type comparison struct {
	of    string // the endpoint
	found []string
}

func (c *comparison) note(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	if !slices.Contains(c.found, text) {
		c.found = append(c.found, text)
	}
}

// value compares one value, at a path in which [] stands for any item of a list.
func (c *comparison) value(recorded, ours *Node, path string) {
	switch {
	case recorded.Kind == "null": // any type may be meant
		return
	case ours.Kind == "null":
		if !c.maybe(path) {
			c.note(path, "%s in the recording, null here", recorded.Kind)
		}
	case number(recorded) && number(ours) && (recorded.Text == "NaN" || ours.Text == "NaN"):
	case recorded.Kind != ours.Kind:
		c.note(path, "%s in the recording, %s here", recorded.Kind, ours.Kind)
	case recorded.Kind == "array":
		c.list(recorded, ours, path)
	case recorded.Kind == "object" && freeKeys(path):
		c.entries(recorded, ours, path)
	case recorded.Kind == "object":
		c.object(recorded, ours, path)
	}
}

// maybe reports what an answer has or lacks by its situation.
func (c *comparison) maybe(path string) bool { return maybe[c.of+" "+path] != "" }

func number(n *Node) bool { return n.Kind == "float" || n.Text == "NaN" }

// list holds each of our items against the recorded ones: it must be like one of
// them, since some have fields that others lack.
func (c *comparison) list(recorded, ours *Node, path string) {
	if len(recorded.Items) > 0 && len(ours.Items) == 0 && !c.maybe(path+"[]") {
		c.note(path, "%d items in the recording, none here", len(recorded.Items))
	}
	for _, item := range ours.Items {
		var least *comparison
		for _, r := range recorded.Items {
			one := &comparison{of: c.of}
			one.value(r, item, path+"[]")
			if least == nil || len(one.found) < len(least.found) {
				least = one
			}
		}
		if least != nil {
			for _, text := range least.found {
				c.note("", "%s", text)
			}
		}
	}
}

// entries compares an object whose keys are data: only the types of the values.
func (c *comparison) entries(recorded, ours *Node, path string) {
	if len(recorded.Keys) == 0 {
		return
	}
	for _, key := range ours.Keys {
		like := recorded.Fields[key]
		if like == nil {
			like = recorded.Fields[recorded.Keys[0]]
		}
		c.value(like, ours.Fields[key], path+".*")
	}
}

// object compares fields: each recorded one is here, at its place unless the
// order is Java's own, and each other one is listed as ours.
func (c *comparison) object(recorded, ours *Node, path string) {
	at := -1
	for _, key := range recorded.Keys {
		field := path + "." + key
		i := slices.Index(ours.Keys, key)
		if i < 0 {
			if !c.maybe(field) {
				c.note(field, "missing here")
			}
			continue
		}
		if i < at && !anyOrder(path) {
			c.note(field, "stands at another place in the recording, which has %v; ours are %v", recorded.Keys, ours.Keys)
		}
		at = max(at, i)
		c.value(recorded.Fields[key], ours.Fields[key], field)
	}
	for _, key := range ours.Keys {
		field := path + "." + key
		if recorded.Fields[key] == nil && Ours[c.of+" "+field] == "" && !c.maybe(field) {
			c.note(field, "not in the recording, and not listed as ours")
		}
	}
}

var varying = regexp.MustCompile(`localhost:\d+|/tmp/\S+|[0-9a-f]{32}|[0-9a-f-]{36}`)

// errors compares the first line and the last cause of an error.
func (c *comparison) errors(recorded, ours *Node) {
	if want, got := firstLine(recorded), firstLine(ours); want != got {
		c.note("", "text %q, in the recording %q", got, want)
	}
	cause := rootCause(recorded)
	if got := rootCause(ours); cause != got && strings.HasPrefix(cause, "org.apache.flink.runtime.") {
		c.note("", "cause %q, in the recording %q", got, cause)
	}
}

func firstLine(n *Node) string {
	if len(n.Fields["errors"].Items) == 0 {
		return ""
	}
	line, _, _ := strings.Cut(n.Fields["errors"].Items[0].Text, "\n")
	return varying.ReplaceAllString(line, "*")
}

// rootCause is the last cause that is told.
func rootCause(n *Node) string {
	cause := ""
	for _, item := range n.Fields["errors"].Items {
		for line := range strings.SplitSeq(item.Text, "\n") {
			if text, ok := strings.CutPrefix(line, "Caused by: "); ok {
				cause = varying.ReplaceAllString(text, "*")
			}
		}
	}
	return cause
}
