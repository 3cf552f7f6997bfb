// Package estimate guesses how many rows the operators of a query give, from what is
// known of its tables.
//
// It promises the same guess for the same tree, at least one row, and never to be asked
// whether a plan is right: only what is faster is decided by it.
package estimate
