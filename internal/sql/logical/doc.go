// Package logical holds a query once its names and types are known: a tree of
// relational operators over typed expressions, which says what is asked for and not
// how it is computed.
//
// It promises that a Node is never changed once made, and that an operator's columns
// follow from its inputs: Fields says them. An expression's Input i is column i of the
// operator's input; a Join's condition counts the left columns, then the right ones. It
// knows no cost, no parallelism and no connector.
package logical
