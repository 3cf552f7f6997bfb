package rest

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirstream/weir/internal/testkit/recorded"
)

// A schema is a part of Flink's own snapshot of its API. A type may be given
// by the place where it stands first.
type schema struct {
	Type       string         `json:"type"`
	ID         string         `json:"id"`
	Ref        string         `json:"$ref"`
	Properties jsontext.Value `json:"properties"`
	Items      *schema        `json:"items"`
	Additional *schema        `json:"additionalProperties"`
	Enum       []string       `json:"enum"`
}

// A call is one path of the snapshot.
type call struct {
	URL      string `json:"url"`
	Method   string `json:"method"`
	Status   string `json:"status-code"`
	Response schema `json:"response"`
}

// declaredOnly are fields that the snapshot declares and a genuine answer has
// only at times, and calls whose schema is not what is written on the wire, as
// the recordings show.
var declaredOnly = map[string]bool{
	"other-concurrent-attempts": true, "concurrentExceptions": true, "taskName": true, "endpoint": true, "taskManagerId": true,
	"stream-graph": true, "failure-cause": true, "inputs": true, "job-execution-result": true, "description": true,
	"subtasks": true, "backpressureLevel": true, "backpressure-level": true, "end-timestamp": true, "data": true,
	"local_strategy": true, "caching": true, "taskmanagers-blocked": true, "slots-free-and-blocked": true, "blocked": true,
}

// TestSnapshot holds every answer against the snapshot's schema: each declared
// field is there and has the declared type.
func TestSnapshot(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(recorded.Material(t, "reference/flink-rest"), "rest_api_v1.snapshot"))
	if err != nil {
		t.Fatal(err)
	}
	var snapshot struct {
		Calls []call `json:"calls"`
	}
	if err := json.Unmarshal(text, &snapshot); err != nil {
		t.Fatal(err)
	}
	s := newWorld().server(t)
	checked, missing := 0, []string{}
	for _, c := range snapshot.Calls {
		if strings.Contains(c.URL, ":jarid") || c.URL == "/jars/upload" {
			continue // TestPrograms asks for these
		}
		pattern := strings.Split(strings.TrimPrefix(c.URL, "/"), "/")
		if route, _, _ := s.find(c.Method, pattern); route == nil || !slices.Equal(route.pattern, pattern) {
			missing = append(missing, c.Method+" "+c.URL)
			continue
		}
		for _, job := range []string{running.String(), scheduled.String(), failed.String(), cancelled.String(), finished.String()} {
			got := ask(t, s, c.Method, fill(pattern, job), "")
			if got.Code >= 400 {
				continue
			}
			checked++
			if want, _, _ := strings.Cut(c.Status, " "); want != http.StatusText(got.Code) && !strings.HasPrefix(c.Status, itoa(got.Code)) {
				t.Errorf("%s %s: status %d, declared %s", c.Method, c.URL, got.Code, c.Status)
			}
			ours, err := recorded.Parse(got.Body.String())
			if err != nil {
				t.Fatal(c.URL, err)
			}
			types := map[string]*schema{}
			c.Response.conform(ours, c.URL, types, func(format string, args ...any) {
				t.Helper()
				t.Errorf("%s (%s): "+format, append([]any{c.Method, job}, args...)...)
			})
		}
	}
	t.Logf("%d answers checked; not served: %v", checked, missing)
	if checked < 150 {
		t.Errorf("only %d answers were checked", checked)
	}
}

func itoa(n int) string { text, _ := json.Marshal(n); return string(text) }

// fill puts things that exist in the place of parameters.
func fill(pattern []string, job string) string {
	target := ""
	for _, part := range pattern {
		switch part {
		case ":jobid", ":applicationid":
			part = job
		case ":vertexid":
			part = vertexID(1).String()
		case ":taskmanagerid":
			part = manager
		case ":subtaskindex", ":attempt", ":checkpointid":
			part = "0"
		case ":filename":
			part = "weir-jobmanager-0-host.log"
		}
		target += "/" + part
	}
	return target
}

// listed are the schemas of bodies that are lists on the wire: metrics, and
// the configuration.
func listed(id string) bool {
	return strings.Contains(id, ":metrics:") || strings.HasSuffix(id, "ConfigurationInfo") || strings.Contains(id, "Metric")
}

// conform complains where a value is not what the schema says.
func (s *schema) conform(n *recorded.Node, path string, types map[string]*schema, complain func(string, ...any)) {
	if s.Ref != "" {
		if known := types[s.Ref]; known != nil {
			known.conform(n, path, types, complain)
		}
		return
	}
	if s.ID != "" {
		types[s.ID] = s
	}
	if n.Kind == "null" || s.Type == "any" || s.Type == "object" && n.Kind == "array" && listed(s.ID) {
		return
	}
	want := map[string][]string{
		"string": {"string"}, "integer": {"int"}, "number": {"int", "float"}, "boolean": {"bool"}, "array": {"array"}, "object": {"object"},
	}[s.Type]
	if !slices.Contains(want, n.Kind) && !(n.Text == "NaN" && s.Type != "object") {
		complain("%s: %s, declared %s", path, n.Kind, s.Type)
		return
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, n.Text) {
		complain("%s: %q is none of %v", path, n.Text, s.Enum)
	}
	if s.Items != nil {
		for _, item := range n.Items {
			s.Items.conform(item, path+"[]", types, complain)
		}
	}
	if s.Additional != nil {
		for _, k := range n.Keys {
			s.Additional.conform(n.Fields[k], path+"."+k, types, complain)
		}
	}
	if len(s.Properties) > 0 {
		s.conformFields(n, path, types, complain)
	}
}

func (s *schema) conformFields(n *recorded.Node, path string, types map[string]*schema, complain func(string, ...any)) {
	var properties map[string]*schema
	if err := json.Unmarshal(s.Properties, &properties); err != nil {
		complain("%s: the schema cannot be read: %v", path, err)
		return
	}
	tree, err := recorded.Parse(string(s.Properties))
	if err != nil {
		complain("%s: the schema cannot be read: %v", path, err)
		return
	}
	for _, name := range tree.Keys {
		switch {
		case n.Fields[name] != nil:
			properties[name].conform(n.Fields[name], path+"."+name, types, complain)
		case !declaredOnly[name]:
			complain("%s.%s: declared, and not here", path, name)
		}
	}
}
