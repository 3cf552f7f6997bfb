// Package parse reads SQL as Flink 2.3 writes it, and makes the trees of package
// ast.
//
// Statements, Statement, Expression and Type read a text; Split cuts a text into
// statements without reading them; Complete says what may stand at a place of a
// text that is still being written.
//
// The reader is written by hand: a lexer that knows where each token stands, one
// function for each form of statement, and expressions by the strength with
// which operators bind. It looks ahead but never goes back, so its time grows
// with the length of the text, and a text too deeply nested is refused before
// the stack is.
//
// Every error is an *Error: it has the line and column that Flink reports, shows
// the line with the place marked, and says what was expected; where a keyword
// was misspelt, it names the nearest one.
//
// A word is a keyword only where the grammar asks for it. The words that cannot
// be names are Flink's; DATETIME and FINAL are names here where nothing else can
// be meant.
//
// The package knows no table, no function and no type but their syntax, reads no
// file, and keeps nothing between calls.
package parse
