package sqlgateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weirstream/weir/internal/sql/session"
	"github.com/weirstream/weir/internal/sqlgateway/wire"
	"github.com/weirstream/weir/types"
)

// client gives the session a request names. what is what the handler is to do, for the
// text of an error.
func (s *Server) client(r *request, what string) (*client, error) {
	handle, err := r.handle("session_handle")
	if err != nil {
		return nil, err
	}
	c, ok := s.clients.find(handle)
	if !ok {
		return nil, noSession(r, what, handle)
	}
	return c, nil
}

// noSession answers that a session does not exist, in the form of the handler's errors.
func noSession(r *request, what, handle string) error {
	text := gatewayException + fmt.Sprintf("Session '%s' does not exist.", handle)
	if r.format == "" { // what looks at sessions and operations
		return handlerFailed(what, text)
	}
	return serverFailed(gatewayException+what, text)
}

// statementBody is the body of what carries statements.
type statementBody struct {
	Statement        string            `json:"statement"`
	ExecutionTimeout int64             `json:"executionTimeout"`
	ExecutionConfig  map[string]string `json:"executionConfig"`
	Position         *int              `json:"position"`
}

// executeStatement begins a statement; what comes of it is fetched.
func (s *Server) executeStatement(r *request) ([]byte, error) {
	const what = "Failed to execute statement."
	var body statementBody
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	c, err := s.client(r, what)
	if err != nil {
		return nil, err
	}
	if body.ExecutionTimeout > 0 {
		return nil, serverFailed(gatewayException+what, session.ClassRefused+": SqlGatewayService doesn't support timeout mechanism now.")
	}
	handle := c.execute(func(ctx context.Context) (*session.Result, error) {
		result, err := c.session.Execute(ctx, body.Statement, body.ExecutionConfig)
		return withJobID(result), err
	})
	return field("operationHandle", handle), nil
}

// notConfiguring is what a session is not configured with, in Flink's words.
const notConfiguring = "Unsupported statement for configuring session: %s\nThe configureSession API only supports executing statements of type " +
	"SET, RESET, CREATE TABLE, CREATE VIEW, CREATE DATABASE, CREATE FUNCTION, CREATE TEMPORARY SYSTEM FUNCTION, CREATE CATALOG, CREATE MODEL, " +
	"CREATE MATERIALIZED TABLE, DROP TABLE, DROP VIEW, DROP DATABASE, DROP FUNCTION, DROP TEMPORARY SYSTEM FUNCTION, DROP CATALOG, DROP MODEL, " +
	"DROP MATERIALIZED TABLE, ALTER TABLE, ALTER VIEW, ALTER DATABASE, ALTER FUNCTION, ALTER CATALOG SET, ALTER CATALOG RESET, " +
	"ALTER CATALOG COMMENT, ALTER MODEL, ALTER MODEL, ALTER MATERIALIZED TABLE, USE CATALOG, USE [CATALOG.]DATABASE, USE MODULES, " +
	"LOAD MODULE, UNLOAD MODULE, ADD JAR.\n"

// configureSession carries a statement out that prepares the session.
func (s *Server) configureSession(r *request) ([]byte, error) {
	const what = "Failed to configure session."
	var body statementBody
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	c, err := s.client(r, what)
	if err != nil {
		return nil, err
	}
	handle, status, err := c.inTurn(r.Context(), func(ctx context.Context) error { return c.session.Configure(ctx, body.Statement) })
	switch {
	case errors.Is(err, session.ErrNotConfiguring):
		return nil, serverFailed(gatewayException+what, failedOperation(handle), session.ClassRefused+": "+fmt.Sprintf(notConfiguring, body.Statement))
	case err != nil:
		return nil, serverFailed(append([]string{gatewayException + what, failedOperation(handle)}, lines(err)...)...)
	case status != finished:
		return nil, serverFailed(gatewayException+what, gatewayException+"The statement was given up.")
	}
	return []byte("{}"), nil
}

func failedOperation(handle string) string {
	return session.ClassExecution + ": Failed to execute the operation " + handle + "."
}

// completeStatement gives what may stand at a place of a text. The place is counted in
// UTF-16 code units, as Java counts.
func (s *Server) completeStatement(r *request) ([]byte, error) {
	const what = "Failed to get statement completion candidates."
	var body statementBody
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	if body.Position == nil {
		return nil, refused(restException+"Bad request received. Request did not conform to expected format.",
			"position is missing; allowed is the number of a character of statement.")
	}
	c, err := s.client(r, what)
	if err != nil {
		return nil, err
	}
	position, ok := offset(body.Statement, *body.Position)
	if !ok {
		return nil, refused(restException+"Bad request received. Request did not conform to expected format.",
			fmt.Sprintf("position is %d; allowed is from 0 to the statement's length.", *body.Position))
	}
	var candidates []string // whoever asks for them has them once the status is finished
	handle, status, err := c.inTurn(r.Context(), func(ctx context.Context) error {
		var err error
		candidates, err = c.session.Complete(ctx, body.Statement, position)
		return err
	})
	switch {
	case err != nil:
		return nil, serverFailed(append([]string{gatewayException + what, failedOperation(handle)}, lines(err)...)...)
	case status != finished:
		return nil, serverFailed(gatewayException+what, gatewayException+"The statement was given up.")
	}
	dst := []byte(`{"candidates":[`)
	for i, text := range candidates {
		dst = wire.AppendText(wire.AppendComma(dst, i), text)
	}
	return append(dst, "]}"...), nil
}

// offset is the byte at which the UTF-16 code unit n of a text begins.
func offset(text string, n int) (int, bool) {
	if n < 0 {
		return 0, false
	}
	at := 0
	for n > 0 && at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		at += size
		n--
		if r > 0xffff {
			n--
		}
	}
	return at, n <= 0
}

// refreshBody is the body of what refreshes a materialized table. When that is, and whether
// it is a scheduler that asks, makes no difference here.
type refreshBody struct {
	IsPeriodic       bool              `json:"isPeriodic"`
	Periodic         bool              `json:"periodic"`
	ScheduleTime     string            `json:"scheduleTime"`
	DynamicOptions   map[string]string `json:"dynamicOptions"`
	StaticPartitions map[string]string `json:"staticPartitions"`
	ExecutionConfig  map[string]string `json:"executionConfig"`
}

// refreshMaterializedTable carries out ALTER MATERIALIZED TABLE … REFRESH.
func (s *Server) refreshMaterializedTable(r *request) ([]byte, error) {
	const what = "Failed to refresh materialized table."
	var body refreshBody
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	c, err := s.client(r, what)
	if err != nil {
		return nil, err
	}
	if len(body.DynamicOptions) > 0 {
		return nil, serverFailed(gatewayException+what, session.ClassRefused+": dynamicOptions are not supported: ALTER MATERIALIZED TABLE … RESUME WITH takes options.")
	}
	statement := "ALTER MATERIALIZED TABLE " + r.params["materialized_table_identifier"] + " REFRESH"
	for i, name := range slices.Sorted(maps.Keys(body.StaticPartitions)) {
		before := ", "
		if i == 0 {
			before = " PARTITION ("
		}
		statement += before + types.Quote(name) + " = '" + strings.ReplaceAll(body.StaticPartitions[name], "'", "''") + "'"
	}
	if len(body.StaticPartitions) > 0 {
		statement += ")"
	}
	return field("operationHandle", c.execute(func(ctx context.Context) (*session.Result, error) {
		return c.session.Execute(ctx, statement, body.ExecutionConfig)
	})), nil
}

// scriptBody is the body of what deploys a script.
type scriptBody struct {
	Script    string `json:"script"`
	ScriptURI string `json:"scriptUri"`
}

// deployScript refuses, as Flink does for a session cluster.
func (s *Server) deployScript(r *request) ([]byte, error) {
	const what = "Failed to deploy script to cluster."
	var body scriptBody
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	if _, err := s.client(r, what); err != nil {
		return nil, err
	}
	if body.Script == "" && body.ScriptURI == "" {
		return nil, serverFailed(session.ClassArgument + ": Please specify script content or uri.")
	}
	return nil, serverFailed(gatewayException+what, session.ClassRefused+": Application Mode not supported by standalone deployments.")
}

// operationOf gives the operation a request names.
func (s *Server) operationOf(r *request, what string) (*client, *operation, error) {
	handle, err := r.handle("operation_handle")
	if err != nil {
		return nil, nil, err
	}
	c, err := s.client(r, what)
	if err != nil {
		return nil, nil, err
	}
	o, ok := c.operation(handle)
	if !ok {
		return nil, nil, handlerFailed(what, noOperation(handle))
	}
	return c, o, nil
}

func noOperation(handle string) string {
	return gatewayException + "Can not find the submitted operation in the OperationManager with the " + handle + "."
}

func (s *Server) operationStatus(r *request) ([]byte, error) {
	_, o, err := s.operationOf(r, "Failed to getOperationInfo.")
	if err != nil {
		return nil, err
	}
	status, _, _ := o.state()
	return field("status", status), nil
}

func (s *Server) cancelOperation(r *request) ([]byte, error) {
	const what = "Failed to cancelOperation."
	_, o, err := s.operationOf(r, what)
	if err != nil {
		return nil, err
	}
	if err := o.giveUp(); err != nil {
		return nil, handlerFailed(what, gatewayException+err.Error())
	}
	return field("status", canceled), nil
}

func (s *Server) closeOperation(r *request) ([]byte, error) {
	c, err := s.client(r, "Failed to closeOperation.")
	if err != nil {
		return nil, err
	}
	handle, err := r.handle("operation_handle")
	if err != nil {
		return nil, err
	}
	c.closeOperation(handle)
	return field("status", closed), nil
}

// fetchFailed answers a fetch that has no page.
func fetchFailed(causes ...string) error {
	const what = "Failed to fetchResults."
	return serverFailed(append([]string{gatewayException + gatewayException + what, gatewayException + what}, causes...)...)
}

// fetchResults gives the page of a token, or says that there is none yet.
func (s *Server) fetchResults(r *request) ([]byte, error) {
	format, err := r.rowFormat()
	if err != nil {
		return nil, err
	}
	token, err := strconv.ParseInt(r.params["token"], 10, 64)
	if err != nil {
		return nil, badParameter("path", "token", r.params["token"])
	}
	sessionHandle, err := r.handle("session_handle")
	if err != nil {
		return nil, err
	}
	handle, err := r.handle("operation_handle")
	if err != nil {
		return nil, err
	}
	c, ok := s.clients.find(sessionHandle)
	if !ok {
		return nil, fetchFailed(gatewayException + fmt.Sprintf("Session '%s' does not exist.", sessionHandle))
	}
	o, ok := c.operation(handle)
	if !ok {
		return nil, fetchFailed(noOperation(handle))
	}
	select {
	case <-o.done:
	case <-r.Context().Done():
	case <-time.After(patience):
	}
	status, result, err := o.state()
	switch {
	case status == pending || status == running:
		return appendNext([]byte(`{"resultType":"NOT_READY"`), r, sessionHandle, handle, token, format), nil
	case err != nil:
		return nil, fetchFailed(append([]string{failedOperation(handle)}, lines(err)...)...)
	case status != finished:
		return nil, fetchFailed(gatewayException + fmt.Sprintf("Can not fetch results from the %s in %s status.", handle, status))
	}
	o.fetching.Lock()
	made, next, err := o.pages.page(r.Context(), result.Rows, token)
	o.fetching.Unlock()
	if err != nil {
		return nil, fetchFailed(lines(err)...)
	}
	dst, err := appendPage(nil, result, made, format)
	if err != nil {
		return nil, err
	}
	if made.end {
		return append(dst, '}'), nil
	}
	return appendNext(dst, r, sessionHandle, handle, next, format), nil
}

// rowFormat is how the values are asked for; version 1 knows one way only.
func (r *request) rowFormat() (rowFormat, error) {
	text := r.URL.Query().Get("rowFormat")
	switch format := rowFormat(text); {
	case r.version == 1, text == "":
		return formatJSON, nil
	case format == formatJSON, format == formatPlain:
		return format, nil
	}
	return "", badParameter("query", "rowFormat", text)
}

// appendPage writes a page up to its rows.
func appendPage(dst []byte, result *session.Result, p page, format rowFormat) ([]byte, error) {
	kind, kindOf := "PAYLOAD", "SUCCESS"
	if p.end {
		kind = "EOS"
	}
	if result.Content {
		kindOf = "SUCCESS_WITH_CONTENT"
	}
	dst = append(dst, `{"resultType":"`+kind+`","isQueryResult":`...)
	dst = strconv.AppendBool(dst, result.Query)
	if result.Job != "" {
		dst = append(dst, `,"jobID":"`+result.Job+`"`...)
	}
	dst = append(dst, `,"resultKind":"`+kindOf+`","results":{"columns":`...)
	dst = appendColumns(dst, result.Schema)
	dst = append(dst, `,"rowFormat":"`+string(format)+`","data":[`...)
	w, n := rowWriter{format, result}, 0
	for _, b := range p.batches {
		var err error
		if dst, err = w.rows(dst, b, n); err != nil {
			return nil, err
		}
		n += b.Len()
	}
	return append(dst, "]}"...), nil
}

// appendNext ends an answer with where the next page is.
func appendNext(dst []byte, r *request, sessionHandle, handle string, token int64, format rowFormat) []byte {
	dst = fmt.Appendf(dst, `,"nextResultUri":"/v%d/sessions/%s/operations/%s/result/%d`, r.version, sessionHandle, handle, token)
	if r.version > 1 {
		dst = append(dst, "?rowFormat="+string(format)...)
	}
	return append(dst, `"}`...)
}

// field is an object with one field.
func field(name, value string) []byte {
	return append(wire.AppendText([]byte(`{"`+name+`":`), value), '}')
}
