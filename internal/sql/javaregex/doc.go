// Package javaregex runs regular expressions written for java.util.regex on Go's regexp.
//
// It promises that an expression it accepts finds what Java finds, but for these: $ does
// not match before a line end at the very end of the text; \b knows letters of ASCII only,
// and (?i) those of all scripts; and in texts of many kilobytes, where an expression with ^
// or \b can match nothing, a match of nothing right behind another is not found. What has
// no meaning here
// (look-around, back references, possessive quantifiers, atomic groups, intersections of
// classes) is refused by an UnsupportedError that names the construct; what Java refuses
// too is a SyntaxError. It never takes more than linear time.
package javaregex
