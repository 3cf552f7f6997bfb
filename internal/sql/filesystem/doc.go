// Package filesystem is the connector of tables that are files: each row a record of a text
// file, or a row of a Parquet file, below the table's path.
//
// It promises that a value that cannot be read names the table, the file, the line or row, the
// column and what was seen, and so does a failure further on that a row of a
// file has caused; that a table may have such rows skipped or kept aside; and that files are
// written as package connector/files does: each row once, seen when it is committed. It never
// guesses a type.
package filesystem
