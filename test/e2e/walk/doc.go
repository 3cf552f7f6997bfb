// Package walk is a newcomer's first hour with the real binary, as a script that a person
// can read and type: testdata/walk. Where the recordings of a genuine Flink lie beside the
// module, the same steps are held against what it answered.
//
// It promises that its cluster listens on ports of its own and is gone, with its files,
// when the test ends. It never asserts a duration.
package walk
