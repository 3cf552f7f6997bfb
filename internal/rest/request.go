package rest

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/ident"
)

// A request is one request with its parameters and body.
type request struct {
	*http.Request
	params map[string]string
	query  url.Values
	format string
	body   []byte // empty, or a JSON object; nil when the handler reads it itself
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Sibling != nil && s.Sibling.Serves(r.URL.Path) {
		s.Sibling.ServeHTTP(w, r)
		return
	}
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p) // how net/http gives a connection up
			}
			s.Logger.Error("REST handler panicked", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			s.writeFailure(w, &failure{status: http.StatusInternalServerError, lines: []string{"Internal server error.", fmt.Sprint(p)}})
		}
	}()
	if origin := config.WebAccessControlAllowOrigin.In(s.Config); origin != "" {
		w.Header().Set("Access-Control-Allow-Origin", origin)
	}
	path, valid := segments(r.URL)
	route, params, methods := s.find(r.Method, path)
	switch {
	case !valid || len(methods) == 0 && r.Method == http.MethodOptions:
		s.notFound(w, r)
	case r.Method == http.MethodOptions:
		w.Header().Set("Allow", allow(methods))
		w.Header().Set("Access-Control-Allow-Methods", allow(methods))
		w.Header().Set("Access-Control-Allow-Headers", "*")
		w.WriteHeader(http.StatusNoContent)
	case route == nil:
		s.notFound(w, r)
	default:
		s.handle(w, r, route, params)
	}
}

// notFound answers for a path that is not served. GET looks for a file, as in
// Flink, and says so.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	get := r.Method == http.MethodGet || r.Method == http.MethodHead
	if get && s.Fallback != nil {
		s.Fallback.ServeHTTP(w, r)
		return
	}
	text := "Not found: " + clip(r.URL.Path)
	if get {
		text = "Unable to load requested file " + clip(r.URL.Path) + "."
	}
	s.writeFailure(w, fail(http.StatusNotFound, text))
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request, route *route, params map[string]string) {
	ctx, release := context.WithTimeoutCause(r.Context(), s.timeout, errTimeout)
	defer release()
	body := r.Body
	if r.ContentLength > s.maxContent {
		s.refuseTooLarge(w, r, body)
		return
	}
	r.Body = http.MaxBytesReader(w, body, s.maxContent)
	req := &request{Request: r.WithContext(ctx), params: params, format: route.format}
	a, err := s.answer(req, route)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		s.refuseTooLarge(w, r, body)
	case err != nil:
		s.writeFailure(w, s.failureOf(r, err))
	default:
		s.write(w, r, a)
	}
}

// drainTimeout is how long a client may go on sending what was refused.
const drainTimeout = 10 * time.Second

// refuseTooLarge answers and then lets the client send on for a while: a
// connection that is closed while it still sends is reset, and the answer lost.
// A client that asks before it sends has not begun.
func (s *Server) refuseTooLarge(w http.ResponseWriter, r *http.Request, body io.Reader) {
	w.Header().Set("Connection", "close")
	control := http.NewResponseController(w)
	drain := r.Header.Get("Expect") == "" && control.EnableFullDuplex() == nil
	s.writeFailure(w, &failure{status: http.StatusRequestEntityTooLarge})
	if drain && control.Flush() == nil && control.SetReadDeadline(s.Now().Add(drainTimeout)) == nil {
		_, _ = io.CopyN(io.Discard, body, s.maxContent) // the answer is out
	}
}

func (s *Server) answer(req *request, route *route) (answer, error) {
	query, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return answer{}, fail(http.StatusBadRequest, restException+"Bad request, could not parse parameters: "+clip(err.Error())+".")
	}
	req.query = query
	if !route.raw {
		if err := req.readBody(); err != nil {
			return answer{}, err
		}
	}
	return route.handle(req)
}

// readBody reads a body that is either absent or one JSON object.
func (r *request) readBody() error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return err
		}
		return badBody(r.format, "The body ended before its time: "+err.Error())
	}
	r.body = text
	return r.decode(&map[string]jsontext.Value{})
}

// decode reads the body into a struct or map. Unknown fields are skipped; an
// absent body changes nothing.
func (r *request) decode(into any) error {
	if len(strings.TrimSpace(string(r.body))) == 0 {
		return nil
	}
	text := jsontext.Value(r.body)
	if kind := text.Kind(); kind != '{' && kind != 0 {
		return badBody(r.format, "The body is no JSON object.")
	}
	if err := json.Unmarshal(text, into, jsontext.AllowDuplicateNames(true)); err != nil {
		return badBody(r.format, mismatch(text, err))
	}
	return nil
}

// mismatch says what a body has where something else belongs: the field, what was
// seen and what is allowed. Else it says where it is no JSON.
func mismatch(body jsontext.Value, err error) string {
	if broken, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Sprintf("The body is no JSON: %s after byte %d.", clip(broken.Err.Error()), broken.ByteOffset)
	}
	wrong, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return clip(err.Error())
	}
	var field []string
	for name := range wrong.JSONPointer.Tokens() {
		field = append(field, name)
	}
	seen := "something else"
	rest := strings.TrimLeft(string(body[min(int64(len(body)), wrong.ByteOffset):]), ",: \t\r\n")
	if value, err := jsontext.NewDecoder(strings.NewReader(rest)).ReadValue(); err == nil {
		seen = clip(string(value))
	}
	return fmt.Sprintf("%s is %s; allowed is %s.", strings.Join(field, "."), seen, allowed(wrong.GoType))
}

// allowed says in words what a field of a body takes.
func allowed(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[looseInt]():
		return "a whole number"
	case reflect.TypeFor[looseBool]():
		return "true or false"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return allowed(t.Elem())
	case reflect.Slice:
		return "a list, each of whose elements is " + allowed(t.Elem())
	case reflect.Map:
		return "an object, each of whose values is " + allowed(t.Elem())
	case reflect.String:
		return "a text"
	}
	return "something of another type"
}

// jobID reads the path parameter jobid.
func (r *request) jobID() (ident.JobID, error) {
	id, err := ident.Parse(r.params["jobid"])
	if err != nil {
		return ident.JobID{}, badParameter("path", "jobid", r.params["jobid"])
	}
	return ident.JobID{ID: id}, nil
}

// vertexID reads the path parameter vertexid.
func (r *request) vertexID() (ident.VertexID, error) {
	id, err := ident.Parse(r.params["vertexid"])
	if err != nil {
		return ident.VertexID{}, badParameter("path", "vertexid", r.params["vertexid"])
	}
	return ident.VertexID{ID: id}, nil
}

// number reads a path parameter that counts from 0.
func (r *request) number(name string) (int, error) {
	n, err := strconv.ParseInt(r.params[name], 10, 32)
	if err != nil || n < 0 {
		return 0, badParameter("path", name, r.params[name])
	}
	return int(n), nil
}

// queryInt reads a query parameter; absent gives the value for that.
func (r *request) queryInt(name string, absent int) (int, error) {
	text := r.query.Get(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, badParameter("query", name, text)
	}
	return int(n), nil
}
