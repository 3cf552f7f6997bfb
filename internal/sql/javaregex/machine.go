package javaregex

import (
	"bytes"
	"regexp/syntax"
	"unicode/utf8"
)

// machine looks for matches in texts of moderate size by backtracking, and never comes to
// a place in the text in the same state twice. It keeps its memory for the next text, and
// is used by one goroutine at a time.
type machine struct {
	jobs    []job
	visited []uint64
	groups  []int
}

// job is a state to be tried, or what a group was before it was tried.
type job struct {
	pc      uint32
	pos     int
	restore bool
}

// maxStates is how many states a machine keeps book of: in longer texts package regexp
// looks for matches.
const maxStates = 1 << 18

// suits reports whether a machine can look through a text.
func (p *Pattern) suits(s []byte) bool { return (len(s)+1)*len(p.prog.Inst) <= maxStates }

// find looks for the first match that begins at from or behind. The groups are in m.groups.
func (m *machine) find(p *Pattern, s []byte, from int) bool {
	width := len(s) + 1 - from
	words := (width*len(p.prog.Inst) + 63) / 64
	if cap(m.visited) < words {
		m.visited = make([]uint64, words)
	}
	m.visited = m.visited[:words]
	clear(m.visited)
	for start := from; start <= len(s); {
		if p.prefix != "" {
			i := bytes.Index(s[start:], p.prefixBytes)
			if i < 0 {
				return false
			}
			start += i
		}
		if start > 0 {
			if p.atBegin {
				return false
			}
			for start < len(s) && !p.first[s[start]] {
				start++
			}
		}
		if m.run(p, s, start, from, width) {
			return true
		}
		if start == len(s) {
			return false
		}
		_, w := utf8.DecodeRune(s[start:])
		start += w
	}
	return false
}

// firstBytes are those that a match may begin with behind the text's beginning: all of them
// if it may be empty, and all that are not ASCII.
func firstBytes(prog *syntax.Prog) (set [256]bool) {
	seen := make([]bool, len(prog.Inst))
	todo := []uint32{uint32(prog.Start)}
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch inst := &prog.Inst[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			todo = append(todo, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&syntax.EmptyBeginText == 0 {
				todo = append(todo, inst.Out)
			}
		case syntax.InstFail:
		case syntax.InstMatch:
			for b := range set {
				set[b] = true
			}
		default:
			for b := range set {
				set[b] = set[b] || b >= utf8.RuneSelf || inst.MatchRune(rune(b))
			}
		}
	}
	return set
}

// run looks for a match that begins at start.
func (m *machine) run(p *Pattern, s []byte, start, from, width int) bool {
	m.groups = m.groups[:0]
	for range p.prog.NumCap {
		m.groups = append(m.groups, -1)
	}
	m.groups[0] = start
	m.jobs = append(m.jobs[:0], job{pc: uint32(p.prog.Start), pos: start})
	for len(m.jobs) > 0 {
		j := m.jobs[len(m.jobs)-1]
		m.jobs = m.jobs[:len(m.jobs)-1]
		if j.restore {
			m.groups[j.pc] = j.pos
			continue
		}
		if m.follow(p, s, j.pc, j.pos, from, width) {
			return true
		}
	}
	return false
}

// follow goes on from a state until there is a match, or no way on. Other ways to be tried
// later are kept.
func (m *machine) follow(p *Pattern, s []byte, pc uint32, pos, from, width int) bool {
	for {
		bit := int(pc)*width + pos - from
		if m.visited[bit>>6]>>(bit&63)&1 != 0 {
			return false
		}
		m.visited[bit>>6] |= 1 << (bit & 63)
		inst := &p.prog.Inst[pc]
		switch inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			m.jobs = append(m.jobs, job{pc: inst.Arg, pos: pos})
		case syntax.InstCapture:
			m.jobs = append(m.jobs, job{pc: inst.Arg, pos: m.groups[inst.Arg], restore: true})
			m.groups[inst.Arg] = pos
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^around(s, pos) != 0 {
				return false
			}
		case syntax.InstNop:
		case syntax.InstMatch:
			m.groups[1] = pos
			return true
		case syntax.InstFail:
			return false
		default:
			if pos == len(s) {
				return false
			}
			r, w := rune(s[pos]), 1
			if r >= utf8.RuneSelf {
				r, w = utf8.DecodeRune(s[pos:])
			}
			if !inst.MatchRune(r) {
				return false
			}
			pos += w
		}
		pc = inst.Out
	}
}

// around says which conditions of no width hold at a place.
func around(s []byte, pos int) syntax.EmptyOp {
	before, after := rune(-1), rune(-1)
	if pos > 0 {
		before, _ = utf8.DecodeLastRune(s[:pos])
	}
	if pos < len(s) {
		after, _ = utf8.DecodeRune(s[pos:])
	}
	return syntax.EmptyOpContext(before, after)
}
