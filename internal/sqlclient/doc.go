// Package sqlclient is the SQL client of the command line: it reads statements from a
// person, a file or a pipe, has a gateway carry them out, and prints what came of them.
//
//	terminal ─▶ editor ─┐
//	file, pipe ─▶ split ─┴▶ Client.run ─▶ client.Result ─▶ tableau, table or changelog view
//
// It promises Flink's texts and layouts, byte for byte where a script may look at them;
// that no escape code is written to what is no terminal; that interrupting a query ends
// the query and not the client; and that a script stops at its first statement that
// fails. It never knows what a statement means beyond QUIT, EXIT, HELP and CLEAR.
package sqlclient
