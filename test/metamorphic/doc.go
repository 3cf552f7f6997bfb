// Package metamorphic runs random streaming programs many times, each time in
// another way: at another parallelism, chained or not, with other buffers, kinds of
// checkpoint and state backends, and with failures in the middle, from which the
// program goes on. However it is run, a program must write the same records.
//
// It promises that programs, settings and failures come from a seed, which it
// prints with every difference, and that time is virtual: nothing waits.
package metamorphic
