// Package sqlgateway serves Flink's SQL gateway: the REST API, in its versions 1 to 4,
// by which SQL clients, the JDBC driver and schedulers run statements.
//
//	request ─▶ route (route.go) ─▶ Session (sessions.go) ─▶ Operation (operation.go) ─▶ session.Session
//	                                      fetch (fetch.go) ◀── pages of rows ◀── session.Rows
//
// It promises Flink's paths, bodies, order of fields, statuses of operations, texts of
// errors and encodings of values; that a session runs one statement at a time; that what
// nobody asks for any more is closed after the idle timeout; and that a client that stops
// fetching stops the query that feeds it, and costs no memory beyond one page. It never
// looks into a statement: what a statement is, its Result says.
package sqlgateway
