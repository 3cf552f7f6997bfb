package main

import (
	"cmp"
	"slices"
)

// judges are the kinds of job.
var judges = map[string]func(*verdict){
	"counted":  func(v *verdict) { counted(v, 4, evenKey, true) },
	"rescaled": func(v *verdict) { counted(v, 4, evenKey, false) },
	"skewed":   func(v *verdict) { counted(v, 4, skewedKey, true) },
	"ruled":    ruled,
	"windows":  windows,
	"pairs":    pairs,
	"valued":   func(v *verdict) { values(v, true) },
	"matched":  func(v *verdict) { values(v, false) },
}

// evenKey spreads records over 97 keys.
func evenKey(split, place int64) int64 { return (place*7 + split*3) % 97 }

// skewedKey gives four of five records to one key.
func skewedKey(split, place int64) int64 {
	if place%5 != 0 {
		return 0
	}
	return evenKey(split, place)
}

// counted judges records that were numbered by key. With prefix those of a split and
// key come in their order.
func counted(v *verdict, width int, key func(split, place int64) int64, prefix bool) {
	type line struct{ split, place, count int64 }
	seen, byKey := map[[2]int64]bool{}, map[int64][]line{}
	for _, r := range v.rows {
		if !v.shaped(r, width) || !v.record(seen, r[0], r[1]) {
			continue
		}
		if want := key(r[0], r[1]); r[2] != want {
			v.count("wrong", "record %d of split %d has key %d, want %d", r[1], r[0], r[2], want)
			continue
		}
		byKey[r[2]] = append(byKey[r[2]], line{r[0], r[1], r[3]})
	}
	for k, lines := range byKey {
		slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.count, b.count) })
		next := make([]int64, v.splits) // the least place of the key that has not come
		for i, l := range lines {
			if l.count != int64(i)+1 {
				v.count("wrong", "key %d: record %d of split %d has number %d, want %d", k, l.place, l.split, l.count, i+1)
				break
			}
			if !prefix {
				continue
			}
			want := next[l.split]
			for key(l.split, want) != k {
				want++
			}
			switch {
			case l.place < want:
				v.count("disordered", "key %d: record %d of split %d came after record %d", k, l.place, l.split, want-1)
			case l.place > want:
				v.count("lost", "key %d: record %d of split %d is not there, and record %d is", k, want, l.split, l.place)
			}
			next[l.split] = l.place + 1
		}
	}
	v.complete(seen)
}

// ruled judges records that were numbered by key and say which rule they met.
func ruled(v *verdict) {
	counted(v, 5, evenKey, true)
	byKey := map[int64][][]int64{}
	for _, r := range v.rows {
		if len(r) == 5 {
			byKey[r[2]] = append(byKey[r[2]], r)
		}
	}
	for k, rows := range byKey {
		slices.SortFunc(rows, func(a, b []int64) int { return cmp.Compare(a[3], b[3]) })
		for i := 1; i < len(rows); i++ {
			if rows[i][4] < rows[i-1][4] {
				v.count("wrong", "key %d: number %d met rule %d after rule %d", k, rows[i][3], rows[i][4], rows[i-1][4])
			}
		}
	}
}

// The times of records in milliseconds: every record is 10 ms later than the one
// before it, but every 20th comes as if up to 3 s had passed since.
const (
	apart     = 10
	windowed  = 1000
	patience  = 1000 // what the job waits for
	latest    = 3000
	pairReach = 40
)

func timeOf(split, place int64) int64 {
	at := place * apart
	if place%20 == 19 {
		at -= (place*7919 + split*104729) % latest
	}
	return at
}

// begins is when the window of a time begins; the first ones are before 0.
func begins(at int64) int64 { return at - ((at%windowed)+windowed)%windowed }

// windows judges records by window.
func windows(v *verdict) {
	type window struct{ key, start int64 }
	seen, sizes := map[[2]int64]bool{}, map[window]map[int64]int64{}
	for _, r := range v.rows {
		if !v.shaped(r, 4) || !v.record(seen, r[0], r[1]) {
			continue
		}
		at := timeOf(r[0], r[1])
		if r[2] == tooLate {
			if place := r[1]; place*apart-at < patience {
				v.count("wrong", "record %d of split %d is at most %d ms late, and counts as too late", place, r[0], patience)
			}
			continue
		}
		if want := begins(at); r[2] != want {
			v.count("wrong", "record %d of split %d is in the window of %d, want %d", r[1], r[0], r[2], want)
		}
		w := window{evenKey(r[0], r[1]), r[2]}
		if sizes[w] == nil {
			sizes[w] = map[int64]int64{}
		}
		sizes[w][r[3]]++
	}
	for w, bySize := range sizes {
		for size, n := range bySize {
			if n != size || len(bySize) > 1 {
				v.count("wrong", "the window of %d of key %d has %d records that say it has %d", w.start, w.key, n, size)
			}
		}
	}
	v.complete(seen)
}

// tooLate stands for the begin of a window that was over.
const tooLate = -1

// pairs judges pairs of records of two inputs, the first of which has split 0.
func pairs(v *verdict) {
	seen := map[[2]int64]bool{}
	key := func(place int64) int64 { return place % 13 }
	for _, r := range v.rows {
		if !v.shaped(r, 3) {
			continue
		}
		id := [2]int64{r[0], r[1]}
		switch {
		case r[0] < 0 || r[0] >= v.n || r[1] < 0 || r[1] >= v.n || !paired(r[0], r[1]) || r[2] != key(r[0]):
			v.count("wrong", "%v is no pair", r)
		case seen[id]:
			v.count("doubled", "pair %d %d", r[0], r[1])
		default:
			seen[id] = true
			v.records++
		}
	}
	for a := range v.n {
		for b := max(0, a-pairReach); b < min(v.n, a+pairReach+1); b++ {
			if v.final && paired(a, b) && !seen[[2]int64{a, b}] {
				v.count("lost", "pair %d %d", a, b)
			}
		}
	}
}

// paired says whether two records, whose times are their places in milliseconds,
// have the same of 13 keys and are near enough.
func paired(a, b int64) bool { return (a-b)%13 == 0 && max(a-b, b-a) <= pairReach }

// values judges records that were looked up.
func values(v *verdict, prefix bool) {
	seen, next := map[[2]int64]bool{}, make([]int64, v.splits)
	for _, r := range v.rows {
		if !v.shaped(r, 3) || !v.record(seen, r[0], r[1]) {
			continue
		}
		if r[2] != 3*r[1] {
			v.count("wrong", "record %d of split %d has %d, want %d", r[1], r[0], r[2], 3*r[1])
		}
		next[r[0]] = max(next[r[0]], r[1]+1)
	}
	for split := range v.splits {
		for place := range next[split] {
			if prefix && !seen[[2]int64{split, place}] {
				v.count("lost", "record %d of split %d, and record %d is there", place, split, next[split]-1)
				break
			}
		}
	}
	v.complete(seen)
}
