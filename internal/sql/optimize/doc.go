// Package optimize turns a tree of relational operators into one that gives the same rows
// with less work: sub-queries become joins, conditions go to where rows come from, and
// columns that nobody uses are not read.
//
// It promises that no step changes a result, not even in which rows an error is raised
// that the statement did not raise. A rule is a function from tree to tree in a file of
// its name; Program says in which order they run. It reads no data: how many rows a
// table is likely to have is package estimate's to say.
package optimize
