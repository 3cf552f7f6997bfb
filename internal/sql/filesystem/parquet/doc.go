// Package parquet reads Parquet files into columns and writes columns to them.
//
//	Open: footer ──▶ schema; File.Reader: table's columns ──▶ chunks of a row group ──▶ batch.Column
//	NewWriter: batch.Column ──▶ pages of a row group ──▶ footer
//
// Metadata and codecs are those of parquet-go; pages are decoded here, straight into the
// vectors, by readers of one physical type each.
//
// It promises that whatever bytes a file has, reading it ends with its rows or with an
// error that names the column and the place, and holds no more memory than a bound that
// does not depend on what the file says of itself. It never guesses a type: a column that
// is not of the table's type is refused.
package parquet
