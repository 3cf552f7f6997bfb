package rest

import (
	"net/http"
	"strings"
	"testing"
)

type sibling struct{}

func (sibling) Serves(path string) bool { return strings.HasPrefix(path, "/v4/") }

func (sibling) ServeHTTP(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.Path)) }

// TestASiblingAnswersForItsPaths checks that another API can share the port.
func TestASiblingAnswersForItsPaths(t *testing.T) {
	s := newWorld().server(t)
	s.Sibling = sibling{}
	for path, want := range map[string]string{"/v4/sessions": "/v4/sessions", "/overview": "taskmanagers", "/v1/overview": "taskmanagers"} {
		if got := ask(t, s, "GET", path, "").Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}
