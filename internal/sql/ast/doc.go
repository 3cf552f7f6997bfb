// Package ast holds the syntax tree of SQL: what was written, and where.
//
// Every node carries the half open range of bytes it was read from, so that
// whoever refuses a node can point at it. A node made by hand has the zero
// range. The sets of nodes are closed: Statement, QueryBody, Relation, Pattern,
// Expr, DataType, TableElement, AlterAction and GroupingElement are implemented
// here only, so that a type switch can be complete.
//
// The tree says nothing about meaning. Names are as they were written, case
// kept and quotes taken off; keywords are upper case; special forms of calls
// (EXTRACT, TRIM, FLOOR TO …) are ordinary calls whose keyword is a Symbol.
// Parentheses leave no node: String puts them back where they are needed.
//
// String writes a node as SQL in one canonical form, and parsing that gives an
// equal tree. Two nodes are Equal if they are written alike. Walk visits a node
// and all below it.
//
// The package imports nothing of the module, and never checks names or types.
package ast
