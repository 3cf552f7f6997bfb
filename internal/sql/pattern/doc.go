// Package pattern finds, among rows in order, those that follow a pattern of variables:
// MATCH_RECOGNIZE without its expressions.
//
//	[]Element ──Compile──▶ Automaton ──NewMatcher──▶ Matcher ──Row, Row, …──▶ Found
//
// The variables of a pattern follow one another without a gap, so a run, which is a match
// that has begun, is where it begins and how many rows each variable has. A Matcher goes
// through the rows of one partition and follows all runs at once, one step a row. Which
// rows a variable takes is asked of Conditions, of all runs together.
//
// It promises the matches of Flink's CEP library, in their order: which of several that
// begin with the same row is found, when one that has ended waits for those that began
// before it, and what the next may have in common with it. A Matcher knows no row but by
// its number, so that whoever holds the rows decides how; Oldest is the first that is
// still needed. Its state can be written down between two rows.
//
// It never evaluates an expression, and never looks at a clock.
package pattern
