// Command oracle compares what Weir answers with what a recording says: expressions with
// their types and values, statements with their verdicts, queries with their rows.
//
//	go run ./test/oracle --expressions FILE --report FILE
//
// It takes any file in the formats of the recordings of genuine Flink, and prints how
// many answers are equal, how many differ, and how many expressions Weir refuses that the
// recording answers. Where Weir answers better on purpose, the row is listed in
// exceptions.tsv with the number of the decision and Weir's answer, and counts as equal if
// Weir still gives it. Every difference is written to the report with both answers.
package main
