// Package jsondoc reads and writes JSON documents as SQL's functions see them, and finds
// values in them by paths.
//
// It promises that reading allocates nothing once its memory has grown, that numbers keep
// the digits they are written with, and that documents are written with their keys in
// order and no blanks. What follows a whole document is not looked at. It takes documents
// nested up to 1,000 deep, and knows nothing of SQL's types: what a function makes of a
// value is package functions'.
package jsondoc
