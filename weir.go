// Package weir is the root of a distributed engine for stateful stream and
// batch jobs, with the architecture of the Apache Flink runtime, built for Go.
//
// The root holds no code. A Go program builds a job with package stream and
// runs it embedded or hands it to a cluster with the weir command; the tests
// beside this file keep the policy of the whole module: who may import whom
// (deps.txt) and how the code reads (tidy_test.go).
package weir
