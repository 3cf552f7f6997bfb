// Package physical chooses how a query is computed: a tree of relational operators becomes
// one of package plan, with exchanges where rows must come together.
//
// It promises that the rows are the same whatever is chosen, and that rows are moved only
// where an operator needs it. It never looks at data: what it knows is the
// tree, and how many rows package estimate thinks likely.
package physical
