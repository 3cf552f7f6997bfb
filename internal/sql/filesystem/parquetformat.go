package filesystem

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/internal/sql/filesystem/parquet"
)

// parquetFormat is how Parquet files are read and written.
type parquetFormat struct {
	// utc says that instants and times of no zone become each other in UTC, and not in the
	// machine's zone.
	utc     bool
	writing parquet.Writing
}

func newParquetFormat() parquetFormat { return parquetFormat{writing: parquet.NewWriting()} }

var parquetOptions = []string{"parquet.utc-timezone", "parquet.batch-size", "parquet.write.int64.timestamp", "parquet.timestamp.time.unit",
	"parquet.compression", "parquet.block.size", "parquet.page.size", "parquet.dictionary.page.size", "parquet.enable.dictionary", "parquet.writer.version"}

// set takes an option; known is false if it is none of the format's.
func (f *parquetFormat) set(key, value string) (known bool, err error) {
	w := &f.writing
	switch key {
	case "parquet.utc-timezone":
		f.utc, err = truth(value)
	case "parquet.batch-size": // a batch has as many rows as everywhere
		_, err = positive(value, 1<<31-1)
	case "parquet.write.int64.timestamp":
		w.Int64, err = truth(value)
	case "parquet.timestamp.time.unit":
		w.Unit, err = parquet.ParseUnit(value)
	case "parquet.compression":
		w.Codec, err = parquet.ParseCodec(value)
	case "parquet.block.size":
		w.Block, err = positive(value, 1<<40)
	case "parquet.page.size":
		w.Page, err = positive(value, parquet.MaxPage)
	case "parquet.dictionary.page.size":
		w.DictionaryPage, err = positive(value, parquet.MaxPage)
	case "parquet.enable.dictionary":
		w.Dictionary, err = truth(value)
	case "parquet.writer.version":
		if value != "PARQUET_1_0" && value != "v1" {
			err = fmt.Errorf("'%s' is not written; there is PARQUET_1_0, and PARQUET_2_0 is read", value)
		}
	default:
		return false, nil
	}
	return true, err
}

// positive reads a number of bytes.
func positive(text string, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("'%s' is no number from 1 to %d", text, most)
	}
	return n, nil
}

// zone is that in which instants and times of no zone become each other; nil: UTC.
func (f *parquetFormat) zone() *datetime.Zone {
	if f.utc {
		return nil
	}
	return machineZone()
}

// machineZone is the zone of the machine that reads and writes, as Flink has it: what
// files hold does not depend on the zone of a session. nil: its clocks show UTC.
var machineZone = sync.OnceValue(func() *datetime.Zone {
	for year := 1900; year <= 2100; year++ {
		for month := time.January; month <= time.December; month++ {
			if _, offset := time.Date(year, month, 1, 0, 0, 0, 0, time.Local).Zone(); offset != 0 {
				return datetime.ZoneOf(time.Local)
			}
		}
	}
	return nil
})
