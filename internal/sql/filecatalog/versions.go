package filecatalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weirstream/weir/internal/fs"
)

const (
	extension = ".yaml"
	// largest is how long a definition may be.
	largest = 16 << 20
	// attempts bound how often a version is looked for that others replace at the moment.
	attempts = 100
)

// versions are the definitions of one directory, by name.
type versions struct {
	files fs.FileSystem
	dir   fs.Location
	// seen are the versions that were read or written last here, by name: what is put
	// follows these. A name that is not in it was not there.
	seen map[string]int
}

func versionsIn(files fs.FileSystem, dir fs.Location) *versions {
	return &versions{files: files, dir: dir, seen: map[string]int{}}
}

// all gives the versions of all names, ascending.
func (v *versions) all() (map[string][]int, error) {
	entries, err := v.files.List(context.Background(), v.dir)
	if err != nil {
		return nil, err
	}
	found := map[string][]int{}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(string(e.Location), string(v.dir)+"/")
		if !ok || strings.Contains(rest, "/") {
			continue // below a directory of its own
		}
		if name, version, ok := parseFile(rest); ok {
			found[name] = append(found[name], version)
		}
	}
	for _, all := range found {
		slices.Sort(all)
	}
	return found, nil
}

// names gives the names, sorted.
func (v *versions) names() ([]string, error) {
	all, err := v.all()
	return slices.Sorted(maps.Keys(all)), err
}

// newest gives the newest version of a name; below 0: there is none.
//
// A listing is no moment: what is written and removed meanwhile may be in it or not. So it
// is made sure that the version after the one that was found is not there, and then that
// this one still is: had the next one come and gone before, this one would have gone first.
// Where there seems to be none it is looked once more.
func (v *versions) newest(name string) (int, error) {
	missed := false
	for range attempts {
		all, err := v.all()
		if err != nil {
			return -1, err
		}
		of := all[name]
		if len(of) == 0 {
			if missed {
				return -1, nil
			}
			missed = true
			continue
		}
		newest := of[len(of)-1]
		next, err := v.has(name, newest+1)
		if err != nil {
			return -1, err
		}
		if still, err := v.has(name, newest); err != nil || still && !next {
			return newest, err
		}
	}
	return -1, fmt.Errorf("%s: it is being changed all the time", v.dir.Join(fileOf(name, 0)))
}

// has reports whether a version is there.
func (v *versions) has(name string, version int) (bool, error) {
	_, err := v.files.Stat(context.Background(), v.dir.Join(fileOf(name, version)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// get gives the newest definition of a name; nil: there is none.
func (v *versions) get(name string) ([]byte, error) {
	for {
		newest, err := v.newest(name)
		if err != nil {
			return nil, err
		}
		if newest < 0 {
			delete(v.seen, name)
			return nil, nil
		}
		text, err := fs.ReadFile(context.Background(), v.files, v.dir.Join(fileOf(name, newest)), largest)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process has put newer ones in its place
		}
		v.seen[name] = newest
		return text, err
	}
}

// put writes the version after the one that was seen.
func (v *versions) put(name string, text []byte) error {
	newest, err := v.newest(name)
	if err != nil {
		return err
	}
	seen, there := v.seen[name]
	if !there {
		seen = -1
	}
	next := seen + 1
	at := v.dir.Join(fileOf(name, next))
	if newest != seen {
		return meanwhile(at)
	}
	err = fs.WriteFile(context.Background(), v.files, at, text)
	if errors.Is(err, fs.ErrExist) {
		return meanwhile(at)
	}
	if err != nil {
		return err
	}
	if err := v.confirm(name, next); err != nil {
		return err
	}
	v.seen[name] = next
	return v.remove(name, next-1)
}

// confirm makes sure that a version that was written is the only one of its number. Between
// the look at what is there and the writing, others may have written that version and those
// after it, and removed it again. The version before the newest is kept, and older ones go
// first: if the version before this one is there, none of this number can have been
// removed; nor can it if there is no second version after this one.
func (v *versions) confirm(name string, written int) error {
	if before, err := v.has(name, written-1); err != nil || before {
		return err
	}
	newest, err := v.newest(name)
	if err != nil || newest >= written && newest <= written+1 {
		return err
	}
	at := v.dir.Join(fileOf(name, written))
	if err := v.files.Delete(context.Background(), at); err != nil {
		return err
	}
	return meanwhile(at)
}

func meanwhile(at fs.Location) error {
	return fmt.Errorf("%s: another session has made or changed it meanwhile: try again", at)
}

// drop removes all versions of a name.
func (v *versions) drop(name string) error {
	delete(v.seen, name)
	return v.remove(name, math.MaxInt)
}

// remove removes those versions that are before one, the oldest first, so that none hides
// a newer one at any time.
func (v *versions) remove(name string, before int) error {
	all, err := v.all()
	if err != nil {
		return err
	}
	for _, version := range all[name] {
		if version >= before {
			break
		}
		if err := v.files.Delete(context.Background(), v.dir.Join(fileOf(name, version))); err != nil {
			return err
		}
	}
	return nil
}

// fileOf is what a version's file is called.
func fileOf(name string, version int) string {
	if version == 0 {
		return escape(name) + extension
	}
	return escape(name) + "." + strconv.Itoa(version) + extension
}

// parseFile reads what fileOf wrote; false: it did not.
func parseFile(file string) (name string, version int, ok bool) {
	stem, ok := strings.CutSuffix(file, extension)
	if !ok {
		return "", 0, false
	}
	escaped, number, numbered := strings.Cut(stem, ".")
	if numbered {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || strconv.Itoa(n) != number {
			return "", 0, false
		}
		version = n
	}
	name, ok = unescape(escaped)
	return name, version, ok
}

const hex = "0123456789ABCDEF"

// escape makes a file's name of any name: letters, digits, _ and - stand for themselves,
// the bytes of others are written as %41.
func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// unescape reads what escape wrote; false: it did not.
func unescape(file string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(file); i++ {
		if file[i] != '%' {
			b.WriteByte(file[i])
			continue
		}
		if i+2 >= len(file) {
			return "", false
		}
		c, err := strconv.ParseUint(file[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(c))
		i += 2
	}
	name := b.String()
	return name, name != "" && escape(name) == file
}
