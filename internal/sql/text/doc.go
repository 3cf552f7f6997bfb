// Package text holds the functions of SQL over texts, as plain functions over bytes.
//
// It promises the dialect's answers: positions are counted in code points (in UTF-16
// units where the dialect does, said at the function), a text that is not valid UTF-8 is
// read as Go reads it, and results are appended to what the caller gives, so that a
// kernel fills a column without allocating per row. It knows no NULL and no type: a
// function that may have no answer says so by a second result.
package text
