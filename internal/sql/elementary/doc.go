// Package elementary holds the functions of analysis that SQL has: exponentials,
// logarithms, trigonometry and powers.
//
// It promises of exponentials, logarithms, powers, sine, cosine and tangent the number
// nearest to the exact value, or in one case of many millions the other neighbour: each is
// computed with about 100 bits and rounded once. Inverse and hyperbolic functions are those
// of fdlibm to the last digit. So results are the same on any machine; the standard
// library's differ in the last digit for one argument of ten. Special values are those of
// package math.
package elementary
