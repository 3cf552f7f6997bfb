package csv

import (
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weirstream/weir/format"
)

type order struct {
	ID      string     `csv:"id"`
	Cents   int32      `csv:"cents"`
	Paid    bool       `csv:"paid"`
	Weight  *float64   `csv:"weight"`
	At      time.Time  `csv:"at"`
	From    netip.Addr `csv:"from"`
	Note    *string    `csv:"note"`
	Pieces  uint8
	Ignored func() `csv:"-"`
	_       int
}

const header = "id,cents,paid,weight,at,from,note,Pieces"

func encode[T any](t *testing.T, f Format[T], all ...T) string {
	t.Helper()
	e, err := f.NewEncoder()
	if err != nil {
		t.Fatal(err)
	}
	text := e.AppendHeader(nil)
	for _, v := range all {
		if text, err = e.Append(text, v); err != nil {
			t.Fatal(err)
		}
	}
	return string(text)
}

func decode[T any](f Format[T], header, line string) (v T, err error) {
	d, err := f.NewDecoder(header)
	if err == nil {
		err = d.Decode(line, &v)
	}
	return v, err
}

func TestRoundTrip(t *testing.T) {
	weight, empty, note := 0.1, "", `she said "no, thanks"`
	at := time.Date(1969, 7, 20, 20, 17, 40, 5, time.UTC)
	orders := []order{
		{ID: "a", Cents: -5, Paid: true, Weight: &weight, At: at, From: netip.MustParseAddr("::1"), Note: &note, Pieces: 255},
		{ID: "b,c", At: at, From: netip.MustParseAddr("10.0.0.1"), Note: &empty},
		{ID: "\rd ", At: at, From: netip.MustParseAddr("10.0.0.1")},
	}
	for _, f := range []Format[order]{{}, {Headed: true}, {Headed: true, Comma: ';'}, {Comma: '\t'}} {
		lines := strings.Split(strings.TrimSuffix(encode(t, f, orders...), "\n"), "\n")
		head := ""
		if f.Headed {
			head, lines = lines[0], lines[1:]
		}
		for i, line := range lines {
			got, err := decode(f, head, line)
			if err != nil || !reflect.DeepEqual(got, orders[i]) {
				t.Errorf("%+v: %q: %v\n got %+v\nwant %+v", f, line, err, got, orders[i])
			}
		}
	}
	want := header + "\n" + `a,-5,true,0.1,1969-07-20T20:17:40.000000005Z,::1,"she said ""no, thanks""",255` + "\n"
	if got := encode(t, Format[order]{Headed: true}, orders[0]); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

// Columns are found by their names, and those without a field are passed over.
func TestColumnsByName(t *testing.T) {
	type pair struct{ A, B int }
	got, err := decode(Format[pair]{Headed: true}, "\ufeffB,\"other, one\",A", "2,x,1")
	if err != nil || got != (pair{1, 2}) {
		t.Errorf("got %v, %v", got, err)
	}
	for head, want := range map[string]string{
		"A":     `no column has the name "B"; there are "A"`,
		"A,B,A": `column 3 has the name "A", as one before it`,
		`A,"B`:  "a quote is not closed",
	} {
		if _, err := decode(Format[pair]{Headed: true}, head, "1,2,3"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", head, err, want)
		}
	}
}

func TestErrorsNameTheField(t *testing.T) {
	type row struct {
		Name  string
		Small int8
		At    *time.Time
	}
	for line, want := range map[string]string{
		"a,5":       `"a,5": 2 values, want 3`,
		"a,5,,":     `"a,5,,": 4 values, want 3`,
		"a,,":       `field "Small" (column 2): value "": want int8: invalid syntax`,
		"a,200,":    `field "Small" (column 2): value "200": want int8: value out of range`,
		"a,5,today": `field "At" (column 3): value "today": want time.Time: parsing time "today"`,
		`a,"5,`:     `field "number 2" (column 2): value "\"5,": a quote is not closed`,
		`"a"b,5,`:   "a quoted value is followed by something else",
		`a"b",5,`:   "a value that is not quoted holds a quote",
		"a,5,\"\"":  `field "At" (column 3): value "": want time.Time`,
	} {
		_, err := decode(Format[row]{}, "", line)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
		if _, ok := errors.AsType[*format.FieldError](err); !ok {
			t.Errorf("%q: %v is no FieldError", line, err)
		}
	}
}

func TestTypesThatCannotBeColumns(t *testing.T) {
	check := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err := Format[int]{}.NewEncoder()
	check(err, "records are of type int, want a struct")
	_, err = Format[struct{ A []int }]{}.NewDecoder("")
	check(err, "field A of struct { A []int }: type []int cannot be a column")
	_, err = Format[struct{ a int }]{}.NewEncoder()
	check(err, "has no exported field")
	_, err = Format[struct {
		A int
		B int `csv:"A"`
	}]{}.NewEncoder()
	check(err, `has the name "A", as one before it`)
	_, err = Format[struct{ A int }]{Comma: '"'}.NewEncoder()
	check(err, "Comma is '\"'")
	e, err := Format[struct{ A string }]{}.NewEncoder()
	if err == nil {
		_, err = e.Append(nil, struct{ A string }{"a\nb"})
	}
	check(err, `field "A" (column 1): value "a\nb": it holds a line end`)
}

// Whatever a line holds, what can be read can be written and read again.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{"a,b", `"a""b",`, `"`, `,""`, `""x,`, "\xff,é", "a,\r"} {
		f.Add(seed)
	}
	type row struct {
		A string
		B *string
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\n") {
			return // no line
		}
		v, err := decode(Format[row]{}, "", line)
		if err != nil {
			return
		}
		again, err := decode(Format[row]{}, "", strings.TrimSuffix(encode(t, Format[row]{}, v), "\n"))
		if err != nil || !reflect.DeepEqual(v, again) {
			t.Errorf("%q: %v: %+v became %+v", line, err, v, again)
		}
	})
}
