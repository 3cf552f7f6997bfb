package gofunc

import (
	"cmp"
	"reflect"
	"slices"
)

// sortedKeys gives the keys of a map in an order that is the same each time, so that equal
// maps make equal values.
func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		switch a.Kind() {
		case reflect.String:
			return cmp.Compare(a.String(), b.String())
		case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
			return cmp.Compare(a.Int(), b.Int())
		case reflect.Float32, reflect.Float64:
			return cmp.Compare(a.Float(), b.Float())
		}
		return 0
	})
	return keys
}
