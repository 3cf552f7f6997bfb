// Package decimal computes with SQL's DECIMAL: an unscaled integer of up to 38 digits
// in 128 bits, whose precision and scale the type says.
//
// It promises the exact result rounded HALF_UP to the scale asked for, or ok false if
// it has more digits than the precision asked for; a quotient is rounded to 38
// significant digits first. Nothing is allocated. It never keeps a scale beside a
// value, and never knows a type: package expr says which scale a result has.
package decimal
