// Package expr holds SQL's expressions once their types are known, the registry of
// functions, and their evaluation over columns.
//
// An Expr is a Literal, an Input (a column of the batch it is evaluated over) or a
// Call of a Function; operators, casts and conditionals are calls too. Registry.Call
// makes one: the function's Infer looks at the arguments, wraps them in implicit casts,
// and says the type or refuses. Compile turns expressions into a Program, whose Eval
// gives a column for a batch:
//
//	Expr --Fold--> Expr --Compile--> Program --Eval(batch)--> batch.Column
//
// It promises that a constant has the value that a row with the same arguments would
// have, that a branch that is not taken raises no error, and that nothing is allocated
// per row. An error at run time is a *RowError that knows its row and the place in the
// statement. It never reads a clock, a file or a catalog: what a query may know is in
// its Session. A Program belongs to one goroutine; everything else is never changed
// once made.
package expr
