package parse

// Piece is one statement cut out of a text.
type Piece struct {
	// Text is the statement without the semicolon, and without blanks and comments
	// around it; it starts at byte Start of the whole and ends before End.
	Text       string
	Start, End int
	// Terminated is set if a semicolon followed.
	Terminated bool
}

// Split cuts a text into statements at its semicolons, but not at those in quotes,
// comments and hints, nor between STATEMENT SET BEGIN and END. Empty statements
// are left out. Where a quote or comment has no end, the last piece reaches to the
// end of the text.
//
// A client that reads line by line asks whether the last piece is Terminated.
func Split(source string) []Piece {
	var pieces []Piece
	var words [3]string // the last words, and whether a set is open
	set, first := false, true
	start, end := 0, 0
	add := func(terminated bool) {
		if !first {
			pieces = append(pieces, Piece{Text: source[start:end], Start: start, End: end, Terminated: terminated})
		}
		first, set = true, false
	}
	l := newLexer(source)
	for {
		t := l.next()
		switch {
		case t.kind == wrong && l.open >= 0:
			if first {
				start = l.open
			}
			first, end = false, len(source)
			add(false)
			return pieces
		case t.kind == wrong: // one character; its statement goes on behind it
			l.at, l.err = max(l.at, l.err.End), nil
			if first {
				first, start = false, l.from
			}
			end = min(l.at, len(source))
		case t.kind == endOfText:
			add(false)
			return pieces
		case t.word == ";" && !set:
			add(true)
			end = t.end
		default:
			if first {
				first, start = false, t.start
			}
			end = t.end
			// Behind a semicolon or BEGIN, END closes the set.
			if set && t.word == "END" && (words[2] == ";" || words[2] == "BEGIN") {
				set = false
			}
			if t.word == "BEGIN" && words[1] == "STATEMENT" && words[2] == "SET" {
				set = true
			}
		}
		words = [3]string{words[1], words[2], t.word}
	}
}
