package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The types of Thrift's compact protocol.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxThriftDepth bounds how deep structures lie in each other.
const maxThriftDepth = 32

// errShort says that the bytes end within a structure.
var errShort = errors.New("it ends early")

// guard walks over a structure of Thrift's compact protocol before it is decoded: the
// decoder believes what lists say of their length.
type guard struct {
	text []byte
	at   int
	// elements counts those of lists of structures, which are decoded into much larger
	// ones.
	elements int
}

// measure gives how long the structure is that text begins with, errShort if it is longer
// than text.
func measure(text []byte) (int, error) {
	g := guard{text: text}
	if err := g.structure(0); err != nil {
		return 0, err
	}
	return g.at, nil
}

func (g *guard) structure(depth int) error {
	if depth > maxThriftDepth {
		return fmt.Errorf("structures lie more than %d deep in each other", maxThriftDepth)
	}
	for {
		head, err := g.byte()
		if err != nil || head == thriftStop {
			return err
		}
		if head>>4 == 0 {
			if _, err := g.varint(); err != nil {
				return err
			}
		}
		if t := head & 15; t != thriftTrue && t != thriftFalse { // a field's type is its value
			if err := g.value(t, depth); err != nil {
				return err
			}
		}
	}
}

func (g *guard) value(t byte, depth int) error {
	switch t {
	case thriftTrue, thriftFalse, thriftByte:
		return g.skip(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := g.varint()
		return err
	case thriftDouble:
		return g.skip(8)
	case thriftBinary:
		n, err := g.varint()
		if err != nil {
			return err
		}
		return g.skip(n)
	case thriftList, thriftSet:
		return g.list(depth)
	case thriftStruct:
		return g.structure(depth + 1)
	}
	return fmt.Errorf("byte %d: there is no type %d", g.at-1, t)
}

func (g *guard) list(depth int) error {
	head, err := g.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = g.varint(); err != nil {
			return err
		}
	}
	if n > uint64(len(g.text)-g.at) { // each element has a byte
		return errShort
	}
	t := head & 15
	if t == thriftStruct || t == thriftList || t == thriftSet || t == thriftBinary {
		if g.elements += int(n); g.elements > len(g.text)/2+16 {
			return fmt.Errorf("byte %d: %d elements do not fit into %d bytes", g.at, g.elements, len(g.text))
		}
	}
	for range n {
		if err := g.value(t, depth); err != nil {
			return err
		}
	}
	return nil
}

func (g *guard) byte() (byte, error) {
	if g.at >= len(g.text) {
		return 0, errShort
	}
	g.at++
	return g.text[g.at-1], nil
}

func (g *guard) skip(n uint64) error {
	if n > uint64(len(g.text)-g.at) {
		return errShort
	}
	g.at += int(n)
	return nil
}

func (g *guard) varint() (uint64, error) {
	v, n := binary.Uvarint(g.text[g.at:])
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, fmt.Errorf("byte %d: a number has more than 64 bits", g.at)
	}
	g.at += n
	return v, nil
}
