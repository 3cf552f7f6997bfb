// Package bind gives a statement's names and expressions their meaning: a syntax tree
// becomes a tree of relational operators (package logical) over typed expressions.
//
// It promises that a refusal is an *expr.Error which knows the place in the statement,
// says what was seen, and suggests the nearest name. A view is bound as the query that it
// stands for. It never chooses how something is computed, and reads no data.
package bind
