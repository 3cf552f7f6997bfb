package exec

import (
	"bytes"
	"errors"
	"fmt"

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
	open, end := byte('['), byte(']')
	if a.object {
		open, end = '{', '}'
	}
	var text []byte
	for g := from; g < to; g++ {
		text = append(text[:0], open)
		keys := map[string]struct{}{}
		for k, i := range a.of(g) {
			if k > 0 {
				text = append(text, ',')
			}
			switch null := a.vals.IsNull(int(i)); {
			case null && a.object:
				operator.Abort(errNullKey)
			case null:
				text = append(text, "null"...)
			default:
				text = append(text, a.vals.Bytes(int(i))...)
				if a.object {
					once(keys, a.vals.Bytes(int(i)))
				}
			}
		}
		out.AppendBytes(append(text, end))
	}
}

// once aborts if a member's key is among those before.
func once(keys map[string]struct{}, member []byte) {
	key := string(member[:keyEnd(member)])
	if _, there := keys[key]; there {
		operator.Abort(fmt.Errorf("JSON_OBJECTAGG: the key %s is there twice", key))
	}
	keys[key] = struct{}{}
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
