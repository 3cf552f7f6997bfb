// Package recorded holds the answers that a genuine Flink gave to REST requests,
// and compares others with them.
//
//	Load ─▶ Recording ─Target(things of here)─▶ request ─▶ answer ─▶ Differences
//
// It promises that a difference is told with its place in the answer, and that
// everything which may differ is listed in one file, rules.go, with the reason.
// It never asks anybody: who has a server sends the requests.
package recorded
