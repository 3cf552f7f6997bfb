package sqlgateway

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"uuid"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sqlgateway/wire"
)

// A request is one request with its parameters and body.
type request struct {
	*http.Request
	version int
	params  map[string]string
	format  string
	body    []byte
}

// answer carries a request out. Bodies are bounded as those of the JobManager's API are.
func (s *Server) answer(w http.ResponseWriter, r *request, route *route) {
	r.Body = http.MaxBytesReader(w, r.Body, int64(config.RestServerMaxContentLength.In(s.Config)))
	body, err := io.ReadAll(r.Body)
	r.body = body
	var text []byte
	if err == nil {
		text, err = route.handle(r)
	}
	var f *failure
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		writeJSON(w, http.StatusOK, text)
	case errors.As(err, &f):
		writeFailure(w, f)
	case errors.As(err, &tooLarge):
		writeFailure(w, &failure{status: http.StatusRequestEntityTooLarge})
	default:
		writeFailure(w, serverFailed(lines(err)...))
	}
}

// writeFailure writes the texts. One without any is written with no body at all.
func writeFailure(w http.ResponseWriter, f *failure) {
	if len(f.texts) == 0 {
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(f.status)
		return
	}
	dst := []byte(`{"errors":[`)
	for i, text := range f.texts {
		dst = wire.AppendText(wire.AppendComma(dst, i), text)
	}
	writeJSON(w, f.status, append(dst, "]}"...))
}

func writeJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client is gone, and there is nobody to tell
}

// decode reads the body into a struct. Unknown fields are skipped; an absent body
// changes nothing.
func (r *request) decode(into any) error {
	if len(strings.TrimSpace(string(r.body))) == 0 {
		return nil
	}
	if kind := jsontext.Value(r.body).Kind(); kind != '{' && kind != 0 {
		return r.badBody("The body is no JSON object.")
	}
	err := json.Unmarshal(r.body, into, jsontext.AllowDuplicateNames(true), json.WithUnmarshalers(json.UnmarshalFromFunc(looseText)))
	if broken, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return r.badBody(fmt.Sprintf("The body is no JSON: %s after byte %d.", clip(broken.Err.Error()), broken.ByteOffset))
	}
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		field := strings.ReplaceAll(strings.TrimPrefix(string(wrong.JSONPointer), "/"), "/", ".")
		return r.badBody(fmt.Sprintf("%s is %s; allowed is what fits %v.", field, wrong.JSONKind, wrong.GoType))
	}
	if err != nil {
		return r.badBody(clip(err.Error()))
	}
	return nil
}

func (r *request) badBody(cause string) *failure {
	return refused(restException+"Request did not match expected format "+r.format+".", cause)
}

// looseText takes a number or a truth value as the text it is written with, and null as
// no text.
func looseText(d *jsontext.Decoder, text *string) error {
	switch d.PeekKind() {
	case '0', 't', 'f':
		v, err := d.ReadValue()
		*text = string(v)
		return err
	case 'n':
		*text = ""
		return d.SkipValue()
	}
	return errors.ErrUnsupported
}

// handle reads a path parameter that is a handle.
func (r *request) handle(name string) (string, error) {
	id, err := uuid.Parse(r.params[name])
	if err != nil {
		return "", badParameter("path", name, r.params[name])
	}
	return id.String(), nil
}
