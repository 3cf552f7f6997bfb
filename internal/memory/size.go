package memory

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A Size is a number of bytes. It is never negative when it came from Parse.
type Size int64

// The binary units. A kilobyte has 1024 bytes here, as in Flink.
const (
	Byte Size = 1
	KB        = 1024 * Byte
	MB        = 1024 * KB
	GB        = 1024 * MB
	TB        = 1024 * GB

	// MaxSize stands for "no limit".
	MaxSize Size = math.MaxInt64
)

// units lists the units from small to large with the names a user may write,
// all in lower case. The second name is the one String prints.
var units = []struct {
	size  Size
	names []string
}{
	{Byte, []string{"b", "bytes"}},
	{KB, []string{"k", "kb", "kibibytes"}},
	{MB, []string{"m", "mb", "mebibytes"}},
	{GB, []string{"g", "gb", "gibibytes"}},
	{TB, []string{"t", "tb", "tebibytes"}},
}

// Forms says in one phrase what Parse accepts.
const Forms = "an integer with an optional unit b, kb, mb, gb or tb (1 kb = 1024 bytes; no unit = bytes), such as 1024m or 64 kb"

// Parse reads an integer followed by an optional unit, in either case, with
// or without a space between them. Without a unit the number counts bytes.
// The errors are in Flink's words.
func Parse(text string) (Size, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return 0, errors.New("argument is an empty- or whitespace-only string")
	}
	digits := len(trimmed) - len(strings.TrimLeft(trimmed, "0123456789"))
	number, unit := trimmed[:digits], strings.ToLower(strings.TrimSpace(trimmed[digits:]))
	if number == "" {
		return 0, errors.New("text does not start with a number")
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, flinks("The value '%s' cannot be re represented as 64bit number (numeric overflow).", number)
	}
	multiplier, ok := unitSize(unit)
	if !ok {
		return 0, flinks("Memory size unit '%s' does not match any of the recognized units: %s", unit, unitList())
	}
	if n > int64(MaxSize/multiplier) {
		return 0, flinks("The value '%s' cannot be re represented as 64bit number of bytes (numeric overflow).", text)
	}
	return Size(n) * multiplier, nil
}

// wording is an error text that is Flink's to the letter, with its capitals and
// full stops, because people search for it.
type wording string

func (w wording) Error() string { return string(w) }

func flinks(format string, args ...any) error { return wording(fmt.Sprintf(format, args...)) }

func unitSize(name string) (Size, bool) {
	if name == "" {
		return Byte, true
	}
	for _, u := range units {
		for _, known := range u.names {
			if known == name {
				return u.size, true
			}
		}
	}
	return 0, false
}

func unitList() string {
	var groups []string
	for _, u := range units {
		groups = append(groups, "("+strings.Join(u.names, " | ")+")")
	}
	return strings.Join(groups, " / ")
}

// String is the shortest exact form, such as "128 mb" or "1000 bytes". Parse
// reads it back.
func (s Size) String() string {
	chosen := 0
	for i, u := range units {
		if s != 0 && s%u.size == 0 {
			chosen = i
		}
	}
	return fmt.Sprintf("%d %s", int64(s/units[chosen].size), units[chosen].names[1])
}

// Human is Flink's form for messages: three decimals of the largest unit that
// s exceeds, then the bytes, such as "128.000mb (134217728 bytes)". One
// gigabyte is "1024.000mb", because it equals the unit and does not exceed it.
func (s Size) Human() string {
	chosen := 0
	for i, u := range units {
		if s > u.size {
			chosen = i
		}
	}
	if chosen == 0 {
		return fmt.Sprintf("%d bytes", int64(s))
	}
	// Halves are rounded up, as Java's formatter does; strconv would round
	// them to even.
	value := new(big.Rat).SetFloat64(float64(s) / float64(units[chosen].size))
	return fmt.Sprintf("%s%s (%d bytes)", value.FloatString(3), units[chosen].names[1], int64(s))
}

// Times returns s multiplied by factor, truncated to a whole byte. The product
// is exact in decimal: factor counts as its shortest decimal form, not as the
// binary fraction behind it. A product too large for a Size is MaxSize.
func (s Size) Times(factor float64) Size {
	decimal, ok := new(big.Rat).SetString(strconv.FormatFloat(factor, 'g', -1, 64))
	if !ok {
		return MaxSize
	}
	product := decimal.Mul(decimal, new(big.Rat).SetInt64(int64(s)))
	whole := new(big.Int).Quo(product.Num(), product.Denom())
	if !whole.IsInt64() {
		return MaxSize
	}
	return Size(whole.Int64())
}
