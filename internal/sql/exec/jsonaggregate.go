package exec

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/operator"
	"github.com/weirstream/weir/internal/sql/plan"
	"github.com/weirstream/weir/types"
)

// The JSON aggregates put documents together that are written already: elements of an
// array, and members "key":value of an object.

func init() {
	define(func(*plan.AggregateCall) []types.Type {
		return []types.Type{types.ArrayOf(types.String()).NotNull(), types.String()}
	}, newJSON, "JSON_ARRAYAGG_NULL_ON_NULL", "JSON_ARRAYAGG_ABSENT_ON_NULL", "JSON_OBJECTAGG_NULL_ON_NULL", "JSON_OBJECTAGG_ABSENT_ON_NULL")
}

// documents is a bag whose result is a document.
type documents struct {
	bag
	object bool
}

func newJSON(c *plan.AggregateCall) (accumulator, error) {
	if len(c.ArgTypes) != 1 || !c.ArgTypes[0].Kind.IsText() {
		return nil, fmt.Errorf("of %v: want a document", c.ArgTypes)
	}
	a := &documents{object: c.Function[:len("JSON_OBJECT")] == "JSON_OBJECT"}
	a.vals, a.nulls = batch.NewColumn(c.ArgTypes[0]), c.Function[len(c.Function)-len("NULL_ON_NULL"):] == "NULL_ON_NULL"
	return a, nil
}

var errNullKey = errors.New("JSON_OBJECTAGG: a key is NULL")

func (a *documents) results(out *batch.Column, from, to int) {
	a.sort()
	var text []byte
	for g := from; g < to; g++ {
		places := a.of(g)
		if a.object {
			text = append(a.members(append(text[:0], '{'), places), '}')
		} else {
			text = append(a.elements(append(text[:0], '['), places), ']')
		}
		out.AppendBytes(text)
	}
}

func (a *documents) elements(text []byte, places []int32) []byte {
	for k, i := range places {
		if k > 0 {
			text = append(text, ',')
		}
		if a.vals.IsNull(int(i)) {
			text = append(text, "null"...)
		} else {
			text = append(text, a.vals.Bytes(int(i))...)
		}
	}
	return text
}

// members writes the members in the order of their keys, each of which is there once.
func (a *documents) members(text []byte, places []int32) []byte {
	key := func(i int32) []byte {
		member := a.vals.Bytes(int(i))
		return member[:keyEnd(member)]
	}
	places = slices.Clone(places)
	for _, i := range places {
		if a.vals.IsNull(int(i)) {
			operator.Abort(errNullKey)
		}
	}
	slices.SortFunc(places, func(i, j int32) int { return bytes.Compare(key(i), key(j)) })
	for k, i := range places {
		if k > 0 {
			if bytes.Equal(key(places[k-1]), key(i)) {
				operator.Abort(fmt.Errorf("JSON_OBJECTAGG: the key %s is there twice", key(i)))
			}
			text = append(text, ',')
		}
		text = append(text, a.vals.Bytes(int(i))...)
	}
	return text
}

// keyEnd is where the key of a member ends, which begins with its quote.
func keyEnd(member []byte) int {
	for at := 1; at < len(member); at++ {
		switch n := bytes.IndexAny(member[at:], `"\`); {
		case n < 0:
			return len(member)
		case member[at+n] == '"':
			return at + n + 1
		default:
			at += n + 1
		}
	}
	return len(member)
}
