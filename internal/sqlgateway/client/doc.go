// Package client speaks to an SQL gateway: one session of it, its statements and the rows
// they give.
//
// It promises that it works with any gateway of Flink's from version 2 of the API on, that
// a session stays while the client is open, that an abandoned statement is cancelled, and
// that an error has the gateway's chain of causes. It asks for values as text and never
// interprets them.
package client
