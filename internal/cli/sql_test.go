package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/client"
)

// A cluster that is slow to answer is one, and who answers otherwise is none.
func TestClusterRuns(t *testing.T) {
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select { // longer than it takes to find out whether somebody listens
		case <-time.After(probeTimeout + probeTimeout/2):
			_, _ = w.Write([]byte(`{"taskmanagers":1}`))
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	nobody := httptest.NewServer(http.NotFoundHandler())
	nobody.Close()
	for server, want := range map[*httptest.Server]bool{slow: true, other: false, nobody: false} {
		c := client.New(strings.TrimPrefix(server.URL, "http://"))
		if got := clusterRuns(t.Context(), c); got != want {
			t.Errorf("a cluster runs at %s: %v", server.URL, got)
		}
		c.Close()
	}
}
