package parquet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/weirstream/weir/internal/sql/datetime"
)

// MaxPage bounds a page, in bytes.
const MaxPage = maxPage

// Writing is how files are written.
type Writing struct {
	Codec format.CompressionCodec
	// Block is about how many bytes a row group has, before it is compressed.
	Block int64
	// Page and DictionaryPage are about how many bytes a page has at most.
	Page, DictionaryPage int64
	// Dictionary says that values that repeat are written once.
	Dictionary bool
	// Int64 says that timestamps are written as a count of Unit, and not as INT96.
	Int64 bool
	Unit  Unit
	// Zone is that in which a TIMESTAMP is an instant, which INT96 is; nil: UTC.
	Zone *datetime.Zone
}

// Unit is what timestamps count.
type Unit uint8

// The units.
const (
	Millis Unit = iota
	Micros
	Nanos
)

var units = []string{"millis", "micros", "nanos"}

// NewWriting is how files are written where nothing else is said: as Flink does.
func NewWriting() Writing {
	return Writing{Codec: format.Snappy, Block: 128 << 20, Page: 1 << 20, DictionaryPage: 1 << 20, Dictionary: true, Unit: Micros}
}

// ParseUnit reads the name of a unit.
func ParseUnit(text string) (Unit, error) {
	i := slices.Index(units, text)
	if i < 0 {
		return 0, fmt.Errorf("'%s' is none of %s", text, strings.Join(units, ", "))
	}
	return Unit(i), nil
}

// ParseCodec reads the name of a codec.
func ParseCodec(text string) (format.CompressionCodec, error) {
	var names []string
	for c := format.Uncompressed; c <= format.Lz4Raw; c++ {
		if !known(c) {
			continue
		}
		if strings.EqualFold(text, c.String()) {
			return c, nil
		}
		names = append(names, c.String())
	}
	if strings.EqualFold(text, "none") {
		return format.Uncompressed, nil
	}
	return 0, fmt.Errorf("'%s' is none of %s", text, strings.Join(names, ", "))
}
