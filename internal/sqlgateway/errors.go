package sqlgateway

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/weirstream/weir/internal/sql/session"
)

// The classes of Flink's exceptions that stand before the gateway's texts.
const (
	restException    = "org.apache.flink.runtime.rest.handler.RestHandlerException: "
	requestException = "org.apache.flink.runtime.rest.handler.HandlerRequestException: "
	gatewayClass     = "org.apache.flink.table.gateway.api.utils.SqlGatewayException"
	gatewayException = gatewayClass + ": "
)

// A failure is an answer that refuses. Its body is a list of texts.
type failure struct {
	status int
	texts  []string
}

func (f *failure) Error() string { return strings.Join(f.texts, "\n") }

// chain writes causes, each after the one it led to.
func chain(lines []string) string { return strings.Join(lines, "\nCaused by: ") }

// refused answers a request that is wrong by itself.
func refused(lines ...string) *failure {
	return &failure{http.StatusBadRequest, []string{chain(lines)}}
}

func notFound(path string) *failure {
	return &failure{http.StatusNotFound, []string{"Not found: " + clip(path)}}
}

func badParameter(kind, name, value string) *failure {
	text := fmt.Sprintf("Cannot resolve %s parameter (%s) from value %q.", kind, name, clip(value))
	return refused(restException+"Bad request, could not parse parameters: "+text, requestException+text)
}

// handlerFailed answers that a handler did not do what it is named for.
func handlerFailed(what string, causes ...string) *failure {
	lines := append([]string{restException + what, gatewayException + what}, causes...)
	return &failure{http.StatusInternalServerError, []string{chain(lines)}}
}

// traceEnd ends a cause as the first line of a Java stack trace would. Flink's clients
// show the last cause up to there.
const traceEnd = "\n\tat weir"

// serverFailed answers with a chain of causes from within the server.
func serverFailed(lines ...string) *failure {
	text := "<Exception on server side:\n" + strings.Join(lines, traceEnd+"\nCaused by: ") + traceEnd + "\n\nEnd of exception on server side>"
	return &failure{http.StatusInternalServerError, []string{"Internal server error.", text}}
}

// lines are those of an error's causes.
func lines(err error) []string {
	var all []string
	for _, c := range session.Causes(err) {
		all = append(all, c.String())
	}
	return all
}

func clip(text string) string {
	const limit = 256
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	return strings.ToValidUTF8(text, "?")
}
