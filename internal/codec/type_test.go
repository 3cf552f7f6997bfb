package codec

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"
)

type (
	node struct {
		Name string
		Next *node
	}
	forest  []forest
	line    struct{ Ch chan int }
	invoice struct {
		ID    int
		Lines []line
	}
	hidden   struct{ Shown, secret int }
	embedder struct {
		*hidden
	}
	keyed struct {
		ID   [2]struct{ Tags []string }
		Name string
	}
	// selfish encodes itself and cannot be compared.
	selfish struct{ b []byte }
)

func (s *selfish) AppendBinary(b []byte) ([]byte, error) { return append(b, s.b...), nil }
func (s *selfish) UnmarshalBinary(b []byte) error        { s.b = append([]byte(nil), b...); return nil }

// The explode types have eight times the columns at each step.
type (
	explode4  struct{ A, B, C, D, E, F, G, H *int }
	explode8  struct{ A, B, C, D, E, F, G, H []explode4 }
	explode12 struct{ A, B, C, D, E, F, G, H []explode8 }
	explode16 struct{ A, B, C, D, E, F, G, H []explode12 }
	explode20 struct{ A, B, C, D, E, F, G, H []explode16 }
)

var _ = hidden{}.secret // is there to be refused

func TestTypeErrors(t *testing.T) {
	for _, test := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[chan int](), `codec: type chan int: a channel cannot be encoded: remove it or tag the field weir:"-" to leave it out`},
		{reflect.TypeFor[invoice](), `codec: invoice.Lines[].Ch (chan int) in type codec.invoice: a channel cannot be encoded: remove it or tag the field weir:"-" to leave it out`},
		{reflect.TypeFor[map[string]*func()](), `codec: record[value] (func()) in type map[string]*func(): a function cannot be encoded`},
		{reflect.TypeFor[map[io.Reader]int](), `codec: record[key] (io.Reader) in type map[io.Reader]int: an interface cannot be encoded, as its values can be of any type: use a concrete type or tag`},
		{reflect.TypeFor[any](), `codec: type interface {}: an interface`},
		{reflect.TypeFor[struct{ P uintptr }](), `codec: record.P (uintptr) in type struct { P uintptr }: a uintptr means nothing in another process: use uint64`},
		{reflect.TypeFor[[2]unsafe.Pointer](), `codec: record[] (unsafe.Pointer)`},
		{reflect.TypeFor[hidden](), `codec: hidden.secret (int) in type codec.hidden: the field is unexported: export it, tag it weir:"-" to leave it out, or implement encoding.BinaryAppender and encoding.BinaryUnmarshaler on codec.hidden`},
		{reflect.TypeFor[embedder](), `codec: embedder.hidden (*codec.hidden) in type codec.embedder: the field is unexported`},
		{reflect.TypeFor[node](), `codec: node.Next (codec.node) in type codec.node: recursive type`},
		{reflect.TypeFor[forest](), `codec: forest[] (codec.forest) in type codec.forest: recursive type`},
		{reflect.TypeFor[explode20](), `the type has more than 16384 columns`},
		{nil, `codec: type nil: there is no type to encode`},
	} {
		err := Check(test.typ)
		if te, ok := errors.AsType[*TypeError](err); !ok || te.Reason == "" {
			t.Errorf("%v: error %v is no *TypeError", test.typ, err)
			continue
		}
		if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v:\ngot  %s\nwant %s", test.typ, err, test.want)
		}
	}
	if _, err := For[invoice](); err == nil {
		t.Error("For accepts what Check refuses")
	}
	want := TypeError{Root: "codec.invoice", Path: "invoice.Lines[].Ch", Type: "chan int"}
	if _, err := For[invoice](); err != nil {
		got := *err.(*TypeError)
		got.Reason = ""
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestKeyErrors(t *testing.T) {
	for _, test := range []struct {
		typ  reflect.Type
		want string // empty when it can be a key
	}{
		{reflect.TypeFor[int](), ""},
		{reflect.TypeFor[time.Time](), ""},
		{reflect.TypeFor[celsius](), ""},
		{reflect.TypeFor[struct {
			A [3]string
			B float64
		}](), ""},
		{reflect.TypeFor[struct{}](), ""},
		{reflect.TypeFor[keyed](), "codec: keyed.ID[].Tags ([]string) in type codec.keyed: a slice cannot be part of a key"},
		{reflect.TypeFor[[]byte](), "codec: type []uint8: a slice cannot be part of a key: use a string or an array"},
		{reflect.TypeFor[struct{ M map[int]int }](), "codec: record.M (map[int]int) in type struct { M map[int]int }: a map cannot be part of a key"},
		{reflect.TypeFor[*int](), "codec: type *int: a pointer cannot be part of a key: use the value it points to"},
		{reflect.TypeFor[selfish](), "codec: type codec.selfish: a type that encodes itself can be part of a key only if it is comparable"},
		{reflect.TypeFor[error](), "codec: type error: an interface cannot be encoded"},
	} {
		err := CheckKey(test.typ)
		if test.want == "" {
			if err != nil {
				t.Errorf("%v: %v", test.typ, err)
			}
			continue
		}
		if _, ok := errors.AsType[*TypeError](err); !ok || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v:\ngot  %v\nwant %s", test.typ, err, test.want)
		}
	}
	if err := Check(reflect.TypeFor[selfish]()); err != nil {
		t.Errorf("selfish cannot be encoded: %v", err)
	}
	defer func() {
		if _, ok := recover().(*TypeError); !ok {
			t.Error("AppendKey of a slice did not panic with the *TypeError")
		}
	}()
	p := plan[[]byte](t)
	p.AppendKey(nil, new([]byte))
}
