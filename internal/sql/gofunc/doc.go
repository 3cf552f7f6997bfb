// Package gofunc makes SQL functions of functions written in Go, and Go values of rows.
//
//	Go type ─ShapeOf─▶ Shape ─┬─▶ the SQL types it takes, and the one it gives
//	                          ├─▶ reader: values of a column as Go values
//	                          └─▶ writer: Go values into a column
//
// It promises that a Go type is looked at once, when a function is registered; that
// functions of common types are called over whole columns with no allocation for a row
// but their own; and that a panic in a function is an error that names the function, the
// line and the row. It never keeps what a function was given.
package gofunc
