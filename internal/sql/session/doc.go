// Package session is the seam between who speaks to a user in SQL (the gateway, the
// command line) and who carries statements out.
//
//	gateway, client ─▶ Engine.Open ─▶ Session.Execute ─▶ Result ─▶ Rows, batch by batch
//
// It promises that everything a front end must know of a statement is in its Result or
// in its Error, so that a front end never looks into a statement's text. It never
// parses, plans or runs anything.
package session
