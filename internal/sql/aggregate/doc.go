// Package aggregate lists the functions over many rows: aggregates and those that need
// OVER, with the types of their arguments and results.
//
// It promises that no kernel computes them: package exec does, by their names.
package aggregate
