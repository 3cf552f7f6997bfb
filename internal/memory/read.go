package memory

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// settings reads a Source and remembers which keys took effect and the first
// mistake. After a mistake every further result is meaningless; whoever
// computes asks for err at the end.
type settings struct {
	source Source
	used   map[string]bool
	notes  []string
	from   map[string]string // where each part of the budget comes from, for people
	err    error
}

func newSettings(source Source) *settings {
	return &settings{source: source, used: map[string]bool{}, from: map[string]string{}}
}

func (s *settings) has(key string) bool {
	_, set := s.source.Get(key)
	return set
}

func (s *settings) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

func (s *settings) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// size returns what key is set to, or def.
func (s *settings) size(key string, def Size) Size {
	raw, set := s.source.Get(key)
	if !set {
		return def
	}
	s.used[key] = true
	n, err := Parse(raw)
	if err != nil {
		s.fail("Cannot read memory size from config option '%s'. %w", key, err)
	}
	return n
}

// sized is size, for the part of the budget that is given by key alone.
func (s *settings) sized(part, key string, def Size) Size {
	s.from[part] = key
	if !s.has(key) {
		s.from[part] = "the default of " + key
	}
	return s.size(key, def)
}

// A fraction of something, between bounds.
type fraction struct {
	fractionKeys
	value    float64
	min, max Size
}

// String says how large the fraction is and who says so.
func (f fraction) String() string { return fmt.Sprintf("%s (%s)", javaFloat(float32(f.value)), f.key) }

// fractionKeys names the settings of a fraction and their defaults.
type fractionKeys struct {
	key, minKey, maxKey string // minKey and maxKey may be empty
	def                 float32
	min, max            Size
	oldKey              string // for error texts only
}

// fraction reads and checks a fraction with its bounds. It counts as used only
// once part takes it.
func (s *settings) fraction(k fractionKeys) fraction {
	f := fraction{fractionKeys: k, min: k.min, max: k.max}
	if k.minKey != "" {
		f.min, f.max = s.size(k.minKey, k.min), s.size(k.maxKey, k.max)
	}
	narrow := k.def
	if raw, set := s.source.Get(k.key); set {
		v, err := strconv.ParseFloat(strings.TrimSpace(raw), 32)
		if err != nil {
			s.fail("Could not parse value '%s' for key '%s'.", raw, k.key)
		}
		narrow = float32(v)
	}
	// Flink keeps fractions in 32 bits and computes in 64, and the digits
	// that appear on the way are part of the result.
	f.value = float64(narrow)
	cause := ""
	switch {
	case f.min > f.max:
		cause = "min value must be less or equal to max value"
	case !(f.value >= 0 && f.value < 1):
		cause = "fraction must be in range [0, 1)"
	}
	if cause != "" {
		s.fail("Inconsistently configured %s (%s) and its min (%s), max (%s) value. Caused by: %s",
			k.describe(), javaDouble(f.value), f.min.Human(), f.max.Human(), cause)
	}
	return f
}

// describe names the option the way Flink does in its messages.
func (k fractionKeys) describe() string {
	fallbacks := ""
	if k.oldKey != "" {
		fallbacks = fmt.Sprintf("{key=%s, isDeprecated=true}", k.oldKey)
	}
	return fmt.Sprintf("Key: '%s' , default: %s (fallback keys: [%s])", k.key, javaFloat(k.def), fallbacks)
}

// part returns the fraction of base, within the bounds. what is its name in
// Flink's notes, name that in the budget, and whole that of base.
func (s *settings) part(what, name string, base Size, whole string, f fraction) Size {
	s.from[name] = fmt.Sprintf("%s of %s", f, whole)
	return s.bounded(what, name, base.Times(f.value), f)
}

// inversePart returns the fraction of the whole of which base is the rest,
// within the bounds.
func (s *settings) inversePart(what, name string, base Size, whole string, f fraction) Size {
	s.from[name] = fmt.Sprintf("%s of %s, of which the other parts are the rest", f, whole)
	return s.bounded(what, name, base.Times(f.value/(1-f.value)), f)
}

func (s *settings) bounded(what, name string, n Size, f fraction) Size {
	if s.has(f.key) {
		s.used[f.key] = true
	}
	const note = "The derived from fraction %s (%s) is %s than its %s value %s, %s value will be used instead"
	switch {
	case n > f.max:
		s.note(note, what, n.Human(), "greater", "max", f.max.Human(), "max")
		s.from[name] = fmt.Sprintf("%s: %s would be more, %d bytes", f.maxKey, s.from[name], int64(n))
		return f.max
	case n < f.min:
		s.note(note, what, n.Human(), "less", "min", f.min.Human(), "min")
		s.from[name] = fmt.Sprintf("%s: %s would be less, %d bytes", f.minKey, s.from[name], int64(n))
		return f.min
	}
	return n
}

// sum adds sizes and refuses a total that no Size can hold.
func (s *settings) sum(parts ...Size) Size {
	var total Size
	for _, p := range parts {
		if p > MaxSize-total {
			s.fail("the configured memory sizes add up to more than %d bytes", int64(MaxSize))
			return MaxSize
		}
		total += p
	}
	return total
}

// effects sorts the keys that are set into those that took effect and those
// that did not, with the reason.
func (s *settings) effects(keys []string, why map[string]string) (used []string, ignored map[string]string) {
	used, ignored = []string{}, map[string]string{}
	for _, key := range slices.Sorted(slices.Values(keys)) {
		switch {
		case s.used[key]:
			used = append(used, key)
		case s.has(key):
			ignored[key] = why[key]
		}
	}
	return used, ignored
}

// javaDouble writes v as Java does, which Flink's messages show.
func javaDouble(v float64) string { return javaNumber(v, 64) }

func javaFloat(v float32) string { return javaNumber(float64(v), 32) }

func javaNumber(v float64, bits int) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, bits), "+") + "inity"
	case size != 0 && (size < 1e-3 || size >= 1e7):
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, bits), "e")
		n, _ := strconv.Atoi(exponent)
		return withPoint(mantissa) + "E" + strconv.Itoa(n)
	}
	return withPoint(strconv.FormatFloat(v, 'f', -1, bits))
}

func withPoint(digits string) string {
	if strings.Contains(digits, ".") {
		return digits
	}
	return digits + ".0"
}
