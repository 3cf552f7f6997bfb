package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/weirstream/weir/internal/actor"
	"github.com/weirstream/weir/internal/dispatcher"
	"github.com/weirstream/weir/internal/program"
)

// The classes that stand before Flink's texts. Clients match on the texts with
// them, so they are part of the protocol.
const (
	restException     = "org.apache.flink.runtime.rest.handler.RestHandlerException: "
	requestException  = "org.apache.flink.runtime.rest.handler.HandlerRequestException: "
	notFoundException = "org.apache.flink.runtime.rest.NotFoundException: "
	noJobException    = "org.apache.flink.runtime.messages.FlinkJobNotFoundException: "
)

// A failure is an answer that refuses: a status and the lines of one text, the
// first saying what, each after it what caused the one before.
type failure struct {
	status int
	lines  []string
}

func (f *failure) Error() string { return strings.Join(f.lines, "\nCaused by: ") }

func fail(status int, text string, causes ...string) *failure {
	return &failure{status: status, lines: append([]string{text}, causes...)}
}

// badParameter refuses a parameter; kind is "path" or "query".
func badParameter(kind, name, value string) *failure {
	text := fmt.Sprintf("Cannot resolve %s parameter (%s) from value %q.", kind, name, clip(value))
	return fail(http.StatusBadRequest, restException+"Bad request, could not parse parameters: "+text, requestException+text)
}

// badBody refuses a body that is not what the path takes.
func badBody(format string, cause string) *failure {
	return fail(http.StatusBadRequest, restException+"Request did not match expected format "+format+".", cause)
}

func clip(text string) string {
	const limit = 256
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	return strings.ToValidUTF8(text, "?")
}

// errTimeout is the cause when a request has taken longer than web.timeout.
var errTimeout = errors.New("the cluster did not answer within web.timeout")

// failureOf turns the error of a handler into an answer. What it does not know
// is this program's mistake, and answered as one.
func (s *Server) failureOf(r *http.Request, err error) *failure {
	var f *failure
	var missing *dispatcher.NotFoundError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &missing):
		return fail(http.StatusNotFound, fmt.Sprintf("%sJob %s not found", notFoundException, missing.Job), noJobException+missing.Error())
	case errors.As(err, &tooLarge):
		return &failure{status: http.StatusRequestEntityTooLarge}
	case errors.Is(err, actor.ErrStopped), errors.Is(err, dispatcher.ErrClosing):
		return fail(http.StatusServiceUnavailable, "Service temporarily unavailable: the JobManager is starting or ending. Please refresh.")
	case errors.Is(err, errTimeout):
		return fail(http.StatusServiceUnavailable, fmt.Sprintf("The cluster did not answer within %v (web.timeout).", s.timeout))
	case errors.Is(err, context.Canceled):
		return fail(http.StatusServiceUnavailable, "The request was given up before it was answered.")
	}
	s.Logger.Error("REST request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	return &failure{status: http.StatusInternalServerError, lines: []string{"Internal server error.", err.Error()}}
}

// programFailure turns what package program says into an answer.
func programFailure(err error) error {
	var refused *program.RefusedError
	var planned *program.PlanError
	switch {
	case errors.As(err, &refused):
		return fail(http.StatusBadRequest, refused.Sentence)
	case errors.As(err, &planned) && errors.Is(err, program.ErrNoJob):
		return fail(http.StatusBadRequest, restException+"No jobs included in application.", planned.Error())
	case errors.As(err, &planned):
		return fail(http.StatusBadRequest, restException+"Could not execute application.", planned.Error())
	}
	return err
}
