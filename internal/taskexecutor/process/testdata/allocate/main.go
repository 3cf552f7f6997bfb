// Allocate allocates and writes memory until it is stopped. It is built apart
// from the tests, whose race detector would need memory of its own.
package main

func main() {
	var all [][]byte
	for {
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = byte(i)
		}
		all = append(all, b)
		if len(all) == 1<<20 { // a terabyte: nobody has stopped it
			return
		}
	}
}
