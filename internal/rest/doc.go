// Package rest serves Flink's REST API of a JobManager: the same paths with and
// without /v1, the same JSON, the same statuses and, where they make sense for
// a Go engine, the same texts of errors.
//
//	request ─▶ route (route.go) ─▶ body and parameters (request.go) ─▶ handler ─▶ answer (answer.go)
//	             └ unknown: 404       └ malformed: 400, too large: 413       └ error: errors.go
//
// It promises that a successful body has every field of Flink's, in Flink's
// order where Flink's is fixed, with what is ours beside it; that an error is
// an object with exactly the field "errors"; that what a user sends never ends
// the process and never is answered with 500; and that an answer about a job is
// as fresh as its owner's view of it. It never decides anything about a job and
// keeps no state of its own: it asks the Dispatcher and the ResourceManager.
//
// One file holds the paths of one noun: cluster.go, jobs.go, vertices.go, …
package rest
