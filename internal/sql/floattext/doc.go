// Package floattext writes FLOAT and DOUBLE as Flink's results show them, and reads
// them: the digits are those of Java's Float.toString and Double.toString up to JDK 18,
// which are not always the fewest that tell a number from its neighbours (2.0E-3 is
// 0.002, but 2147483648 as FLOAT is 2.14748365E9).
//
// It promises equal digits for every number, and allocates nothing but for numbers far
// from 1. It never writes integers or decimals.
package floattext
