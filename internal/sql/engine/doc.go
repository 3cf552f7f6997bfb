// Package engine carries out SQL statements: it is what a gateway and a client ask
// (session.Engine).
//
//	text ─parse─▶ ast ─bind─▶ logical ─optimize─▶ logical ─physical─▶ plan ─exec─▶ job ─▶ Runner
//
// It promises that a statement is refused before anything of it is done, that an error
// says where in the statement it is, and that statements of one session see what those
// before have done. It never knows where jobs run: a Runner does.
package engine
