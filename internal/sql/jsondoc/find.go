package jsondoc

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/weirstream/weir/internal/sql/floattext"
)

// ErrNotFound says that a strict path leads nowhere.
var ErrNotFound = errors.New("the path finds nothing, and it is strict")

// Value is what a path finds: a value of the document, an array of such, or a number that
// a function made. It holds until the document or another path is read.
type Value struct {
	// Kind is that of the value.
	Kind Kind
	doc  *Doc
	node int32
	// many are the values of an array that the path made.
	many   []int32
	isMany bool
	number []byte
}

// Find follows a path. Without error and without a value nothing is found, and the path is
// lax. A null is nothing.
func (d *Doc) Find(p *Path) (v Value, found bool, err error) {
	if d.nodes[0].kind == Null {
		return v, false, errors.New("the document is null")
	}
	d.found = append(d.found[:0], 0)
	many := false
	for i := range p.steps {
		s := &p.steps[i]
		if err := d.follow(s, many); err != nil {
			if p.Lax {
				return Value{Kind: Array, doc: d, isMany: true}, p.many, nil // of many none
			}
			return v, false, err
		}
		many = many || s.kind != indexesStep && s.kind != keysStep || len(s.indexes) > 1 || len(s.keys) > 1
	}
	v = Value{doc: d}
	if p.many {
		v.Kind, v.isMany, v.many = Array, true, d.found
	} else {
		v.node = d.found[0]
		v.Kind = d.nodes[v.node].kind
	}
	if p.fn != "" {
		if v, err = v.call(p.fn); err != nil {
			if p.Lax {
				return v, false, nil
			}
			return v, false, err
		}
	}
	if v.Kind == Null {
		if p.Lax {
			return v, false, nil
		}
		return v, false, ErrNotFound
	}
	return v, true, nil
}

// follow replaces the values found so far by those that a step leads to. If there may be
// many, those it does not lead from are passed over.
func (d *Doc) follow(s *step, many bool) error {
	from := d.found
	to := d.spare[:0]
	for _, n := range from {
		before := len(to)
		to = d.lead(to, s, n)
		if len(to) == before && !many && d.misses(s, n) {
			return ErrNotFound
		}
	}
	d.found, d.spare = to, from
	return nil
}

// misses reports whether it is an error that a step leads nowhere from a value. That it
// leads to none of several is none, unless they are positions in what is no array.
func (d *Doc) misses(s *step, n int32) bool {
	switch s.kind {
	case keysStep:
		return len(s.keys) < 2
	case indexesStep:
		return len(s.indexes) < 2 || d.nodes[n].kind != Array
	case sliceStep:
		return d.nodes[n].kind != Array
	}
	return false
}

// lead appends the values that a step leads to from one.
func (d *Doc) lead(to []int32, s *step, n int32) []int32 {
	v := d.nodes[n]
	switch s.kind {
	case keysStep:
		if v.kind == Object {
			for _, key := range s.keys {
				if k := d.member(n, key); k >= 0 {
					to = append(to, k)
				}
			}
		}
	case allStep:
		to = d.children(to, n)
	case deepStep:
		to = append(to, n)
		for _, k := range d.children(nil, n) {
			if !d.nodes[k].kind.Scalar() {
				to = d.lead(to, s, k)
			}
		}
	case indexesStep, sliceStep:
		if v.kind == Array {
			to = d.pick(to, s, d.children(nil, n))
		}
	}
	return to
}

func (d *Doc) pick(to []int32, s *step, elements []int32) []int32 {
	count := len(elements)
	if s.kind == indexesStep {
		for _, i := range s.indexes {
			if i < 0 {
				i += count
			}
			if i >= 0 && i < count {
				to = append(to, elements[i])
			}
		}
		return to
	}
	first, last := 0, count
	if s.hasFrom {
		if first = s.from; first < 0 {
			first = max(0, first+count)
		}
	}
	if s.hasTo {
		if last = s.to; last < 0 {
			last += count
		}
	}
	last = min(last, count)
	if first < last {
		to = append(to, elements[first:last]...)
	}
	return to
}

// member is the value of a key of an object, of equal ones the last; -1 if it has none.
func (d *Doc) member(object int32, key string) int32 {
	found := int32(-1)
	for k := object + 1; k < d.nodes[object].next; k = d.nodes[k+1].next {
		if string(d.bytes(k)) == key {
			found = k + 1
		}
	}
	return found
}

func (d *Doc) children(to []int32, n int32) []int32 {
	switch v := d.nodes[n]; v.kind {
	case Array:
		for k := n + 1; k < v.next; k = d.nodes[k].next {
			to = append(to, k)
		}
	case Object:
		for k := n + 1; k < v.next; k = d.nodes[k+1].next {
			to = append(to, k+1)
		}
	}
	return to
}

// Append appends the value as a document.
func (v Value) Append(dst []byte) []byte {
	switch {
	case v.number != nil:
		return append(dst, v.number...)
	case !v.isMany:
		return v.doc.append(dst, v.node, AppendDecimal)
	}
	dst = append(dst, '[')
	for i, n := range v.many {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.doc.append(dst, n, AppendDecimal)
	}
	return append(dst, ']')
}

// AppendWritten is Append with numbers as they are written.
func (v Value) AppendWritten(dst []byte) []byte {
	if v.isMany || v.number != nil {
		return v.Append(dst)
	}
	return v.doc.append(dst, v.node, appendWritten)
}

// AppendText appends a string without quotes, any other value as a document.
func (v Value) AppendText(dst []byte) []byte {
	if v.Kind == String && v.doc != nil && v.number == nil {
		return append(dst, v.doc.bytes(v.node)...)
	}
	return v.Append(dst)
}

// Each calls f for the elements of an array.
func (v Value) Each(f func(Value)) {
	elements := v.many
	if !v.isMany {
		elements = v.doc.children(nil, v.node)
	}
	for _, n := range elements {
		f(Value{Kind: v.doc.nodes[n].kind, doc: v.doc, node: n})
	}
}

// Root is the document's whole value.
func (d *Doc) Root() Value { return Value{Kind: d.nodes[0].kind, doc: d} }

// Member is the value of a key, if the value is an object that has it.
func (v Value) Member(key string) (Value, bool) {
	if v.Kind != Object || v.isMany {
		return Value{}, false
	}
	n := v.doc.member(v.node, key)
	if n < 0 {
		return Value{}, false
	}
	return Value{Kind: v.doc.nodes[n].kind, doc: v.doc, node: n}, true
}

// Element is element i, counted from 0, if the value is an array that has it.
func (v Value) Element(i int64) (Value, bool) {
	if v.Kind != Array || i < 0 {
		return Value{}, false
	}
	elements := v.doc.children(nil, v.node)
	if i >= int64(len(elements)) {
		return Value{}, false
	}
	n := elements[i]
	return Value{Kind: v.doc.nodes[n].kind, doc: v.doc, node: n}, true
}

// Number is the text of a number as it is written, if the value is one.
func (v Value) Number() ([]byte, bool) {
	if v.Kind != Number {
		return nil, false
	}
	if v.number != nil {
		return v.number, true
	}
	return v.doc.bytes(v.node), true
}

// call computes what a function at the end of a path makes of a value.
func (v Value) call(fn string) (Value, error) {
	made := Value{Kind: Number, doc: v.doc}
	switch fn {
	case "length", "size":
		if v.Kind.Scalar() {
			return Value{}, ErrNotFound
		}
		count := len(v.many)
		if !v.isMany {
			count = len(v.doc.children(nil, v.node))
		}
		made.number = strconv.AppendInt(nil, int64(count), 10)
		return made, nil
	case "keys":
		if v.Kind != Object {
			return Value{}, ErrNotFound
		}
		made.Kind, made.isMany = Array, true
		for k := v.node + 1; k < v.doc.nodes[v.node].next; k = v.doc.nodes[k+1].next {
			made.many = append(made.many, k)
		}
		return made, nil
	}
	if v.Kind != Array {
		return Value{}, fmt.Errorf("%s() is of an array", fn)
	}
	low, high, sum, count := math.Inf(1), math.Inf(-1), 0.0, 0
	v.Each(func(e Value) {
		digits, ok := e.Number()
		x, err := strconv.ParseFloat(string(digits), 64)
		if ok && err == nil {
			low, high, sum, count = min(low, x), max(high, x), sum+x, count+1
		}
	})
	if count == 0 {
		return Value{}, fmt.Errorf("%s() finds no numbers", fn)
	}
	result := map[string]float64{"min": low, "max": high, "sum": sum, "avg": sum / float64(count)}[fn]
	made.number = floattext.AppendDouble(nil, result)
	return made, nil
}
