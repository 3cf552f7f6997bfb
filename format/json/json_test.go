package json

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/weirstream/weir/format"
)

type order struct {
	ID    string         `json:"id"`
	Cents int64          `json:"cents"`
	To    address        `json:"to"`
	Tags  []string       `json:"tags"`
	More  map[string]int `json:"more,omitempty"`
}

type address struct {
	City string `json:"city"`
	Zip  *int   `json:"zip"`
}

func decode(t *testing.T, f Format[order], line string) (o order, err error) {
	t.Helper()
	d, err := f.NewDecoder("")
	if err != nil {
		t.Fatal(err)
	}
	err = d.Decode(line, &o)
	return o, err
}

func TestRoundTrip(t *testing.T) {
	zip := 89073
	want := order{ID: "a\nb\"", Cents: -5, To: address{City: "Ulm", Zip: &zip}, Tags: []string{"x"}, More: map[string]int{"b": 2, "a": 1}}
	e, err := Format[order]{}.NewEncoder()
	if err != nil {
		t.Fatal(err)
	}
	line, err := e.Append([]byte("before "), want)
	if text := `before {"id":"a\nb\"","cents":-5,"to":{"city":"Ulm","zip":89073},"tags":["x"],"more":{"a":1,"b":2}}` + "\n"; err != nil || string(line) != text {
		t.Fatalf("%v: %s, want %s", err, line, text)
	}
	got, err := decode(t, Format[order]{}, strings.TrimSuffix(strings.TrimPrefix(string(line), "before "), "\n"))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: got %+v", err, got)
	}
}

func TestErrorsNameTheField(t *testing.T) {
	for _, c := range []struct{ line, field, value, text string }{
		{`{"id":"a","cents":"5"}`, "/cents", `"5"`, "int64"},
		{`{"id":"a","cents":99999999999999999999}`, "/cents", "99999999999999999999", "range"},
		{`{"to":{"zip":{}}}`, "/to/zip", "", "int"},
		{`{"tags":["a",7]}`, "/tags/1", "7", "string"},
		{`{"id":`, "", `{"id":`, "EOF"},
		{``, "", "", "EOF"},
		{`{} {}`, "", `{} {}`, "invalid"},
		{`{"other":1}`, "/other", "", "unknown"},
	} {
		_, err := decode(t, Format[order]{Strict: true}, c.line)
		f, ok := errors.AsType[*format.FieldError](err)
		if !ok || f.Field != c.field || c.value != "" && f.Value != c.value || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v (%+v)", c.line, err, f)
		}
	}
	if _, err := decode(t, Format[order]{}, `{"other":1}`); err != nil {
		t.Errorf("a member without a field: %v", err)
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	e, err := Format[chan int]{}.NewEncoder()
	if err == nil {
		_, err = e.Append(nil, nil)
	}
	if err == nil || !strings.Contains(err.Error(), "chan int") {
		t.Errorf("got %v", err)
	}
}
