package sqlgateway

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/weirstream/weir/config"
)

// latest is the newest version of the API, and that of paths that name none.
const latest = 4

// A route is one method and path of the API.
type route struct {
	method  string
	pattern []string // segments; ":name" takes any one segment
	since   int      // the first version that has it
	format  string   // names the body in texts of errors; empty: it has none
	handle  func(*request) ([]byte, error)
}

// table lists every path that is served.
func (s *Server) table() []route {
	const in = "/sessions/:session_handle"
	const of = in + "/operations/:operation_handle"
	all := []route{
		{method: "GET", pattern: []string{"/info"}, since: 1, handle: s.info},
		{method: "GET", pattern: []string{"/api_versions"}, since: 1, handle: apiVersions},
		{method: "POST", pattern: []string{"/sessions"}, since: 1, format: "OpenSessionRequestBody", handle: s.openSession},
		{method: "GET", pattern: []string{in}, since: 1, handle: s.sessionSettings},
		{method: "DELETE", pattern: []string{in}, since: 1, handle: s.closeSession},
		{method: "POST", pattern: []string{in + "/heartbeat"}, since: 1, handle: s.heartbeat},
		{method: "POST", pattern: []string{in + "/configure-session"}, since: 2, format: "ConfigureSessionRequestBody", handle: s.configureSession},
		{method: "GET", pattern: []string{in + "/complete-statement"}, since: 2, format: "CompleteStatementRequestBody", handle: s.completeStatement},
		{method: "POST", pattern: []string{in + "/statements"}, since: 1, format: "ExecuteStatementRequestBody", handle: s.executeStatement},
		{method: "POST", pattern: []string{in + "/materialized-tables/:materialized_table_identifier/refresh"}, since: 3, format: "RefreshMaterializedTableRequestBody", handle: s.refreshMaterializedTable},
		{method: "POST", pattern: []string{in + "/scripts"}, since: 4, format: "DeployScriptRequestBody", handle: s.deployScript},
		{method: "GET", pattern: []string{of + "/status"}, since: 1, handle: s.operationStatus},
		{method: "POST", pattern: []string{of + "/cancel"}, since: 1, handle: s.cancelOperation},
		{method: "DELETE", pattern: []string{of + "/close"}, since: 1, handle: s.closeOperation},
		{method: "GET", pattern: []string{of + "/result/:token"}, since: 1, handle: s.fetchResults},
	}
	for i := range all {
		all[i].pattern = split(all[i].pattern[0])
	}
	return all
}

func split(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" })
}

// Serves reports whether a path is the gateway's, whatever its method, for a server
// that has others beside it.
func (s *Server) Serves(path string) bool {
	_, segments := versionOf(split(path))
	return len(segments) > 0 && slices.Contains([]string{"info", "api_versions", "sessions"}, segments[0])
}

// versionOf takes the version off a path. 0: there is no such version.
func versionOf(segments []string) (int, []string) {
	if len(segments) == 0 || len(segments[0]) < 2 || segments[0][0] != 'v' {
		return latest, segments
	}
	n, err := strconv.Atoi(segments[0][1:])
	switch {
	case err != nil:
		return latest, segments
	case n < 1 || n > latest:
		return 0, segments[1:]
	}
	return n, segments[1:]
}

// fits gives the parameters of a path that has the route's form.
func (r *route) fits(version int, path []string) (map[string]string, bool) {
	if version < r.since || len(path) != len(r.pattern) {
		return nil, false
	}
	params := map[string]string{}
	for i, want := range r.pattern {
		if want[0] == ':' {
			params[want[1:]] = path[i]
		} else if want != path[i] {
			return nil, false
		}
	}
	return params, true
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p) // how net/http gives a connection up
			}
			s.Logger.Error("SQL gateway handler panicked", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			writeFailure(w, &failure{http.StatusInternalServerError, []string{"Internal server error.", fmt.Sprint(p)}})
		}
	}()
	if origin := config.WebAccessControlAllowOrigin.In(s.Config); origin != "" {
		w.Header().Set("Access-Control-Allow-Origin", origin)
	}
	version, path := versionOf(split(r.URL.Path))
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var allowed []string
	for i := range s.routes {
		rt := &s.routes[i]
		params, ok := rt.fits(version, path)
		if ok && rt.method == method {
			s.answer(w, &request{Request: r, version: version, params: params, format: rt.format}, rt)
			return
		}
		if ok {
			allowed = append(allowed, rt.method)
		}
	}
	if r.Method == http.MethodOptions && len(allowed) > 0 {
		allow := strings.Join(append(allowed, http.MethodOptions), ", ")
		w.Header().Set("Allow", allow)
		w.Header().Set("Access-Control-Allow-Methods", allow)
		w.Header().Set("Access-Control-Allow-Headers", "*")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	writeFailure(w, notFound(r.URL.Path))
}
