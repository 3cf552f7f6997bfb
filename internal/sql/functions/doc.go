// Package functions registers the functions of SQL in the registry of package expr: what
// arguments each takes, what type it gives, and its kernel over columns.
//
// It promises the dialect's answers, to the type and its nullability. A function that may
// give NULL for arguments that are not is declared nullable, unless its arguments are
// constants for which it gives none. The functions themselves are in leaf packages (text,
// javaregex, datetime, jsondoc); here they meet columns. It holds no operator, cast or
// conditional, which package expr has.
//
// Special forms come with their arguments in the places that packages ast and expr give
// them, keywords (the unit of EXTRACT, the side of TRIM, the clauses of JSON functions) as
// symbols.
package functions
