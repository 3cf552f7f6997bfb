package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A route is one method and path of the API.
type route struct {
	method  string
	pattern []string // segments; ":name" takes any one segment
	// format names the body as Flink's texts of errors do.
	format string
	// raw says that the handler reads the body itself.
	raw bool
	// acts says that GET does more than look, so that HEAD is refused.
	acts   bool
	handle func(*request) (answer, error)
}

// table lists every path that is served. Of two that fit, the first is taken,
// so a word stands before a parameter at the same place.
func (s *Server) table() []route {
	routes := slices.Concat(s.clusterRoutes(), s.jobRoutes(), s.rescaleRoutes(), s.savepointRoutes(), s.vertexRoutes(), s.taskManagerRoutes(), s.applicationRoutes())
	if s.submitEnabled() {
		routes = append(routes, s.programRoutes()...)
	}
	return append(routes, s.graphRoutes()...)
}

// reading marks a route whose handler reads the body itself.
func (r route) reading() route {
	r.raw = true
	return r
}

// acting marks a GET route that does more than look.
func (r route) acting() route {
	r.acts = true
	return r
}

const emptyBody = "EmptyRequestBody"

func get(pattern string, handle func(*request) (answer, error)) route {
	return endpoint(http.MethodGet, pattern, emptyBody, handle)
}

func endpoint(method, pattern, format string, handle func(*request) (answer, error)) route {
	return route{method: method, pattern: strings.Split(strings.TrimPrefix(pattern, "/"), "/"), format: format, handle: handle}
}

// fits gives the parameters of a path that has the route's form.
func (r *route) fits(path []string) (map[string]string, bool) {
	if len(path) != len(r.pattern) {
		return nil, false
	}
	for i, want := range r.pattern {
		if want != path[i] && want[0] != ':' {
			return nil, false
		}
	}
	params := map[string]string{}
	for i, want := range r.pattern {
		if want[0] == ':' {
			params[want[1:]] = path[i]
		}
	}
	return params, true
}

// segments splits a path. Empty segments do not count, so that // and a slash
// at the end mean nothing. No path that is served has a slash within a segment.
func segments(u *url.URL) ([]string, bool) {
	var all []string
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		if part == "" {
			continue
		}
		text, err := url.PathUnescape(part)
		if err != nil || strings.Contains(text, "/") {
			return nil, false
		}
		all = append(all, text)
	}
	if len(all) > 0 && all[0] == "v1" {
		all = all[1:]
	}
	return all, true
}

// find gives the route of a request, and the methods its path has. HEAD is
// answered as GET where that only looks.
func (s *Server) find(method string, path []string) (*route, map[string]string, []string) {
	head := method == http.MethodHead
	if head {
		method = http.MethodGet
	}
	var methods []string
	var found *route
	var params map[string]string
	for i := range s.routes {
		r := &s.routes[i]
		p, ok := r.fits(path)
		if !ok {
			continue
		}
		methods = append(methods, r.method)
		if r.method == http.MethodGet && !r.acts {
			methods = append(methods, http.MethodHead)
		}
		if r.method == method && found == nil && !(head && r.acts) {
			found, params = r, p
		}
	}
	return found, params, methods
}

// allow is the Allow header of a path with the methods.
func allow(methods []string) string {
	methods = append(methods, http.MethodOptions)
	slices.Sort(methods)
	return strings.Join(slices.Compact(methods), ", ")
}
