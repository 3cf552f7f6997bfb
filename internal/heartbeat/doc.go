// Package heartbeat tells an endpoint which of the endpoints it depends on are
// gone.
//
// Of each pair one side pings, with a Manager, and the other is pinged, with a
// Monitor:
//
//	Manager                                          Monitor
//	Add ──ping, at once and each interval──────────▶ Beat: the timeout starts anew
//	    ◀─answer: the timeout starts anew────────────
//	no answer for timeout           → dead           no ping for timeout → lost
//	threshold pings in a row
//	that found nobody               → dead
//	PingNow (a connection broke):
//	a ping at once, and while it
//	finds nobody the next at once   → dead in the time these take
//
// It promises that a target is reported once, that it is forgotten before it is
// reported, and that nothing is reported that was removed before. It never
// sends anything itself: what a ping is, and which payload it carries, is its
// owner's. All of it runs on the owner's loop.
package heartbeat
