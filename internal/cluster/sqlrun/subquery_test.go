package sqlrun_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// truth is one of the three of SQL: 1, 0, or -1 for unknown.
type truth int

func (t truth) not() truth {
	if t < 0 {
		return t
	}
	return 1 - t
}

func (t truth) or(o truth) truth {
	if t == 1 || o == 1 {
		return 1
	}
	return min(t, o)
}

func (t truth) String() string {
	return map[truth]string{1: "TRUE", 0: "FALSE", -1: "<NULL>"}[t]
}

// number is an INT; nil: NULL.
type number *int

func compared(a, b number, holds func(a, b int) bool) truth {
	switch {
	case a == nil || b == nil:
		return -1
	case holds(*a, *b):
		return 1
	}
	return 0
}

func equal(a, b number) truth { return compared(a, b, func(a, b int) bool { return a == b }) }

type pair struct{ x, y number }

// some is whether a test is true of a row, unknown if it is unknown of one.
func some(rows []pair, test func(pair) truth) truth {
	found := truth(0)
	for _, r := range rows {
		found = found.or(test(r))
	}
	return found
}

func those(rows []pair, which func(pair) truth) (kept []pair) {
	for _, r := range rows {
		if which(r) == 1 {
			kept = append(kept, r)
		}
	}
	return kept
}

// questions are conditions over a row of a with sub-queries over b, and what they come to.
var questions = []struct {
	sql  string
	says func(a pair, b []pair) truth
}{
	{"x IN (SELECT x FROM b)", func(a pair, b []pair) truth { return some(b, func(r pair) truth { return equal(a.x, r.x) }) }},
	{"x NOT IN (SELECT x FROM b)", func(a pair, b []pair) truth { return some(b, func(r pair) truth { return equal(a.x, r.x) }).not() }},
	{"x NOT IN (SELECT x FROM b WHERE b.y = a.y)", func(a pair, b []pair) truth {
		return some(those(b, func(r pair) truth { return equal(r.y, a.y) }), func(r pair) truth { return equal(a.x, r.x) }).not()
	}},
	{"EXISTS (SELECT * FROM b WHERE b.x = a.x AND b.y > a.y)", func(a pair, b []pair) truth {
		n := len(those(those(b, func(r pair) truth { return equal(a.x, r.x) }), func(r pair) truth { return compared(r.y, a.y, func(p, q int) bool { return p > q }) }))
		return truth(min(n, 1))
	}},
	{"NOT EXISTS (SELECT 1 FROM b WHERE b.y = a.x)", func(a pair, b []pair) truth {
		return truth(min(len(those(b, func(r pair) truth { return equal(a.x, r.y) })), 1)).not()
	}},
	{"x > ALL (SELECT y FROM b)", func(a pair, b []pair) truth {
		return some(b, func(r pair) truth { return compared(a.x, r.y, func(p, q int) bool { return p <= q }) }).not()
	}},
	{"x <= SOME (SELECT y FROM b WHERE b.x = a.x)", func(a pair, b []pair) truth {
		return some(those(b, func(r pair) truth { return equal(a.x, r.x) }), func(r pair) truth { return compared(a.x, r.y, func(p, q int) bool { return p <= q }) })
	}},
	{"(SELECT COUNT(*) FROM b WHERE b.x = a.x) = y", func(a pair, b []pair) truth {
		n := len(those(b, func(r pair) truth { return equal(a.x, r.x) }))
		return equal(a.y, &n)
	}},
	{"(x, y) IN (SELECT x, y FROM b)", func(a pair, b []pair) truth {
		return some(b, func(r pair) truth { return equal(a.x, r.x).not().or(equal(a.y, r.y).not()).not() })
	}},
	{"(x, y) NOT IN (SELECT y, x FROM b WHERE b.x <> a.y)", func(a pair, b []pair) truth {
		kept := those(b, func(r pair) truth { return equal(r.x, a.y).not() })
		return some(kept, func(r pair) truth { return equal(a.x, r.y).not().or(equal(a.y, r.x).not()).not() }).not()
	}},
	{"x <> ALL (SELECT b.y FROM b WHERE EXISTS (SELECT 1 FROM b AS c WHERE c.x = b.y AND c.y = a.y))", func(a pair, b []pair) truth {
		kept := those(b, func(r pair) truth {
			return truth(min(1, len(those(b, func(c pair) truth { return equal(c.x, r.y).not().or(equal(c.y, a.y).not()).not() }))))
		})
		return some(kept, func(r pair) truth { return equal(a.x, r.y) }).not()
	}},
	{"(SELECT MAX(b.y) FROM b WHERE b.x = a.x) > 1", func(a pair, b []pair) truth {
		var most number
		for _, r := range those(b, func(r pair) truth { return equal(a.x, r.x) }) {
			if r.y != nil && (most == nil || *r.y > *most) {
				most = r.y
			}
		}
		one := 1
		return compared(most, &one, func(p, q int) bool { return p > q })
	}},
}

func randomRows(r *rand.Rand, atLeast int) []pair {
	value := func() number {
		if n := r.IntN(5); n < 4 {
			return &n
		}
		return nil
	}
	rows := make([]pair, atLeast+r.IntN(5))
	for i := range rows {
		rows[i] = pair{value(), value()}
	}
	return rows
}

// values writes rows as a table that may have none.
func values(rows []pair) string {
	text := func(n number) string {
		if n == nil {
			return "CAST(NULL AS INT)"
		}
		return fmt.Sprint(*n)
	}
	lines := []string{"(-1, 0, 0)"} // left out by WHERE
	for i, r := range rows {
		lines = append(lines, fmt.Sprintf("(%d, %s, %s)", i, text(r.x), text(r.y)))
	}
	return "SELECT id, x, y FROM (VALUES " + strings.Join(lines, ", ") + ") AS t(id, x, y) WHERE id >= 0"
}

// Sub-queries say what looking at every row says, as values, in WHERE, and with others.
func TestSubqueries(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	s := open(t)
	for round := range 12 {
		a, b := randomRows(r, 1), randomRows(r, 0)
		for name, rows := range map[string][]pair{"a": a, "b": b} {
			if got := answer(t.Context(), s, "CREATE OR REPLACE VIEW "+name+" AS "+values(rows)); got != "OK\n" {
				t.Fatal(got)
			}
		}
		q, other := questions[round%len(questions)], questions[r.IntN(len(questions))]
		var asValue, where, both []string
		for i, row := range a {
			said, also := q.says(row, b), other.says(row, b)
			asValue = append(asValue, fmt.Sprintf("%d | %s", i, said))
			if said == 1 {
				where = append(where, fmt.Sprint(i))
			}
			if said.or(also.not()) == 1 {
				both = append(both, fmt.Sprint(i))
			}
		}
		for statement, want := range map[string][]string{
			"SELECT id, " + q.sql + " FROM a":                                 asValue,
			"SELECT id FROM a WHERE " + q.sql:                                 where,
			"SELECT id FROM a WHERE " + q.sql + " OR NOT (" + other.sql + ")": both,
		} {
			got := strings.Split(strings.TrimSuffix(answer(t.Context(), s, statement), "\n"), "\n")[1:]
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("a: %s\nb: %s\n%s\ngives %q\nwant  %q", values(a), values(b), statement, got, want)
			}
		}
	}
}
