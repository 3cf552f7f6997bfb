// Package types holds the logical types of SQL: what a column's values are, how many
// digits or characters they may have, and whether they may be NULL.
//
// It promises that a Type is a value: it is never changed once made, and two are the
// same type if Equal says so. String writes a type as the SQL dialect does, so that
// it can be parsed again. It never holds values: those are in package batch.
package types
