// Command mutants asks whether the simulated world would notice a defect: it
// puts one-line defects into the control plane, one at a time, and plays worlds
// until an invariant breaks.
//
//	go run ./internal/testkit/sim/mutants [-seeds 20000] [-limit 10m] [-only NAME,…] [-record]
//
// A defect is a row of a table: a file, a text that stands in it exactly once,
// and what takes its place. It is applied by an overlay: the Go command builds
// this command once more with `-overlay`, which names a changed copy, in a
// temporary directory, to be read instead of the file. So the product's code
// holds no switch, hook or build tag for the sake of its testers, what is played
// is what is shipped but for that line, and two defects can never meet.
//
// The command so built plays the seed that found.txt names for the defect, which
// was the first to notice it, and then the seeds from 1 upwards until one breaks
// an invariant, and says which. The table printed has a line for each defect: the
// seed, the number of worlds that were played, the invariant by its number in
// protocols.md §13, and the file and line. The exit code is 1 when a defect
// survives. With -record, what was found is written to found.txt.
//
// A row with a reason to survive is shown and not played: the line is one of two
// mechanisms that each suffice, or the line's absence costs time and no promise.
// A test checks that the text of every row still stands exactly once in its
// file, so a row cannot outlive the code it speaks of.
//
// The command changes no other file of the source tree.
package main
