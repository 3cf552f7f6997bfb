package pattern

import (
	"errors"
	"fmt"
)

// Element is a variable of a pattern, and how many rows in a row it takes.
type Element struct {
	// Min is the least number; below 0 where {,m} leaves it out. Max is the most; below 0:
	// any.
	Min, Max int
	// Reluctant says that as few as possible are taken, and not as many.
	Reluctant bool
}

// One is a variable without a quantifier.
var One = Element{Min: 1, Max: 1}

// maybe reports whether the element is there once or not at all.
func (e Element) maybe() bool { return e.Min == 0 && e.Max == 1 }

// optional reports whether the element may be left out.
func (e Element) optional() bool { return e.Min == 0 }

// greedy reports whether the element takes rows from what comes behind it. One that may
// only be there or not does not.
func (e Element) greedy() bool { return !e.Reluctant && e.Min != e.Max && !e.maybe() }

// least is the number of rows it takes once it takes any.
func (e Element) least() int { return max(1, e.Min) }

// most is how many states a pattern has at most.
const most = 10_000

// Check refuses patterns that no automaton is made of, and tells which element is at
// fault: those that Flink refuses, in its words, and repetitions that are too many.
func Check(elements []Element) (at int, err error) {
	states, empty := 0, true
	for i, e := range elements {
		switch {
		case e.Min < 0:
			return i, errFrom
		case e.Max >= 0 && e.Max < e.least():
			//lint:ignore ST1005 Flink's words
			return i, fmt.Errorf("The to should be a number greater than or equal to from: %d.", e.least())
		case i > 0 && (e.maybe() || e.optional() && e.Max < 0) && elements[i-1].greedy():
			return i, errAfterGreedy
		case e.maybe() && e.Reluctant:
			return i, errReluctant
		}
		if states += max(e.Min, e.Max) + 1; states > most || e.Max > most || e.Min > most {
			return i, fmt.Errorf("the pattern repeats variables too often: it has more than %d states", most)
		}
		empty = empty && e.optional()
	}
	last := len(elements) - 1
	switch {
	case last < 0:
		return 0, errEmpty
	case elements[last].greedy():
		return last, errGreedy
	case empty:
		return 0, errEmpty
	}
	return 0, nil
}

// What Flink refuses, in its words.
var (
	//lint:ignore ST1005 Flink's words
	errFrom = errors.New("The from should be a positive number greater than 0.")
	//lint:ignore ST1005 Flink's words
	errAfterGreedy = errors.New("Optional pattern cannot be preceded by greedy pattern")
	//lint:ignore ST1005 Flink's words
	errReluctant = errors.New("Reluctant optional variables are not supported yet.")
	//lint:ignore ST1005 Flink's words
	errGreedy = errors.New("Greedy quantifiers are not allowed as the last element of a Pattern yet. Finish your pattern with either a simple variable or reluctant quantifier.")
	//lint:ignore ST1005 Flink's words
	errEmpty = errors.New("Patterns that can produce empty matches are not supported. There must be at least one non-optional state.")
)
