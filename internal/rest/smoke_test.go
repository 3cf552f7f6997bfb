package rest

import (
	"net/http"
	"testing"
)

// TestEveryRouteAnswers asks every GET path for what exists.
func TestEveryRouteAnswers(t *testing.T) {
	s := newWorld().server(t)
	for _, r := range s.routes {
		if r.method != http.MethodGet || r.pattern[0] == "jars" {
			continue
		}
		target := fill(r.pattern)
		w := ask(t, s, http.MethodGet, target, "")
		t.Logf("%s %d %.300s", target, w.Code, w.Body)
		if w.Code >= 500 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}

// fill puts things that exist in the place of parameters.
func fill(pattern []string) string {
	target := ""
	for _, part := range pattern {
		switch part {
		case ":jobid":
			part = failed.String()
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
