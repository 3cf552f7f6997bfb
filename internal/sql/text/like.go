package text

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Like is a compiled pattern of LIKE: runs of literal bytes and single wild cards, cut at
// every % into parts that are found one after another.
type Like struct {
	parts []likePart
	// open says that a % stands before the first part, after the last one.
	openLeft, openRight bool
}

// likePart is what stands between two %: pieces of text, with so many _ before each.
type likePart struct{ pieces []likePiece }

type likePiece struct {
	skip int // how many code points of any kind come first
	text []byte
}

// CompileLike compiles a pattern; escape is the empty text if there is no escape
// character, else one character. An escape character stands before %, _ and itself only.
func CompileLike(pattern, escape string) (*Like, error) {
	if utf8.RuneCountInString(escape) > 1 {
		return nil, fmt.Errorf("compiling LIKE pattern %q: the escape character is %q, allowed is a single character", pattern, escape)
	}
	esc, _ := utf8.DecodeRuneInString(escape)
	l := &Like{}
	part := likePart{}
	piece := likePiece{}
	any := false
	flush := func() {
		if piece.skip > 0 || len(piece.text) > 0 {
			part.pieces = append(part.pieces, piece)
			piece = likePiece{}
		}
	}
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case escape != "" && r == esc:
			i++
			if i == len(runes) || runes[i] != '%' && runes[i] != '_' && runes[i] != esc {
				return nil, fmt.Errorf("compiling LIKE pattern %q: invalid escape sequence at character %d; the escape character %q may stand before %%, _ and itself", pattern, i, escape)
			}
			piece.text = utf8.AppendRune(piece.text, runes[i])
		case r == '_':
			if len(piece.text) > 0 {
				flush()
			}
			piece.skip++
		case r == '%':
			flush()
			if !any && len(part.pieces) == 0 {
				l.openLeft = true
			} else if len(part.pieces) > 0 {
				l.parts = append(l.parts, part)
			}
			part, any = likePart{}, true
		default:
			piece.text = utf8.AppendRune(piece.text, r)
		}
	}
	flush()
	if len(part.pieces) > 0 {
		l.parts = append(l.parts, part)
	} else {
		l.openRight = any
	}
	return l, nil
}

// Match reports whether all of s fits the pattern.
func (l *Like) Match(s []byte) bool {
	if len(l.parts) == 0 {
		return l.openRight || len(s) == 0
	}
	for i, p := range l.parts {
		last := i == len(l.parts)-1 && !l.openRight
		switch {
		case i == 0 && !l.openLeft:
			n := p.at(s)
			if n < 0 || last && n != len(s) {
				return false
			}
			s = s[n:]
		case last:
			return p.atEnd(s)
		default:
			n := p.find(s)
			if n < 0 {
				return false
			}
			s = s[n:]
		}
	}
	return true
}

// at is how many bytes of s the part takes at its beginning; -1 if it does not fit.
func (p likePart) at(s []byte) int {
	n := 0
	for _, c := range p.pieces {
		for k := c.skip; k > 0; k-- {
			if n >= len(s) {
				return -1
			}
			n += width(s, n)
		}
		if !bytes.HasPrefix(s[n:], c.text) {
			return -1
		}
		n += len(c.text)
	}
	return n
}

// atEnd reports whether the part fits the end of s.
func (p likePart) atEnd(s []byte) bool {
	for i := len(p.pieces) - 1; i >= 0; i-- {
		c := p.pieces[i]
		if !bytes.HasSuffix(s, c.text) {
			return false
		}
		s = s[:len(s)-len(c.text)]
		for k := c.skip; k > 0; k-- {
			if len(s) == 0 {
				return false
			}
			_, w := utf8.DecodeLastRune(s)
			s = s[:len(s)-w]
		}
	}
	return true
}

// find is where the part ends that fits s first; -1 if it fits nowhere.
func (p likePart) find(s []byte) int {
	first := p.pieces[0]
	for from := 0; from <= len(s); {
		if first.skip == 0 {
			i := bytes.Index(s[from:], first.text)
			if i < 0 {
				return -1
			}
			from += i
		}
		if n := p.at(s[from:]); n >= 0 {
			return from + n
		}
		if from == len(s) {
			return -1
		}
		from += width(s, from)
	}
	return -1
}
