package operator

import (
	"encoding/binary"
	"fmt"
)

// eventTimeList is the name of the list of an operator whose function may have lists of
// its own.
const eventTimeList = "weir.watermark"

// keptWatermark keeps how far event time has come for an operator, in a list of this
// name. After a restore each input begins with no watermark, and records of one may come
// before the watermark of another: without what was kept, those that had been late would
// be in time for a window that was over, which would be emitted once more. at is not to
// fall when the first watermarks come.
//
// All subtasks have had the same watermarks when a barrier comes, since both go to all of
// them in one order; so the least of what they kept is what each had.
func keptWatermark(name string, at *int64) KeptList {
	return KeptList{
		Name: name, Mode: Gathered, Schema: "int64",
		Save: func() [][]byte { return [][]byte{binary.LittleEndian.AppendUint64(nil, uint64(*at))} },
		Load: func(elements [][]byte) error {
			for i, e := range elements {
				if len(e) != 8 {
					return fmt.Errorf("a watermark of a checkpoint has %d bytes, want 8", len(e))
				}
				if had := int64(binary.LittleEndian.Uint64(e)); i == 0 || had < *at {
					*at = had
				}
			}
			return nil
		},
	}
}
