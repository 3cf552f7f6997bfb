package pattern

import "errors"

// SkipKind is where the next match may begin.
type SkipKind uint8

// The places after a match.
const (
	// ToNextRow: the row after the first one of the match.
	ToNextRow SkipKind = iota
	// PastLastRow: the row after the last one of the match.
	PastLastRow
	// ToFirst and ToLast: the first and the last row of an element.
	ToFirst
	ToLast
)

// Skip is what AFTER MATCH says.
type Skip struct {
	Kind SkipKind
	// Element is that of ToFirst and ToLast.
	Element int
}

// ErrNoRow is that the element to skip to has no row in a match, and ErrNoProgress that
// the next match would begin where the last one did.
var (
	ErrNoRow      = errors.New("no such element in the found match")
	ErrNoProgress = errors.New("could not skip to first element of a match")
)

// after is the first row with which the next match may begin.
func (s Skip) after(r Rows) (int64, error) {
	switch s.Kind {
	case PastLastRow:
		return r.Start + r.Len(), nil
	case ToNextRow:
		return r.Start + 1, nil
	}
	from, to := r.Span(s.Element)
	switch {
	case from == to:
		return 0, ErrNoRow
	case s.Kind == ToLast:
		from = to - 1
	}
	if from == r.Start {
		return 0, ErrNoProgress
	}
	return from, nil
}
