// Package wire writes and reads what both ends of the SQL gateway's API must agree on:
// logical types and names of row kinds, as Flink's JSON has them.
//
// It promises that Parse(Append(t)) is t, but for how Flink's planner treats intervals:
// each is one of months, or one of seconds with milliseconds. It knows no requests.
package wire
