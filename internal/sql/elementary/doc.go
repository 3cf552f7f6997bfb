// Package elementary holds the functions of analysis that SQL has: exponentials,
// logarithms, trigonometry and powers.
//
// It promises the number nearest to the exact value, or in one case of many millions the
// other neighbour: each is computed with about 100 bits and rounded once, so that results
// are those of a good mathematical library on any machine. The standard library's differ
// in the last digit for one argument of ten. Special values are those of package math.
package elementary
