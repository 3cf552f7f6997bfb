package operator

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// eventTimeList is the name of the list of an operator whose function may have lists of
// its own.
const eventTimeList = "weir.watermark"

// The schemas of what is kept of a watermark: once it was the watermark alone.
const (
	watermarkOfGroups = "watermark of key groups"
	watermarkAlone    = "int64"
)

// A passage is how far event time had come for some key groups.
type passage struct {
	first, last int // inclusive
	at          int64
}

// keptWatermark keeps how far event time has come for an operator, in a list of this
// name. After a restore each input begins with no watermark, and records of one may come
// before the watermark of another: without what was kept, those that had been late would
// be in time for a window that was over, which would be emitted once more. at is not to
// fall when the first watermarks come.
//
// An aligned barrier finds all subtasks with the same watermark; one that overtakes finds
// each with its own. A subtask begins with the least of those whose key groups it has now;
// beyond, if not nil, is told of the others.
func keptWatermark(c *Context, name string, at *int64, beyond *[]passage) KeptList {
	first, last := c.OwnKeyGroups()
	return KeptList{
		Name: name, Mode: Gathered, Schema: watermarkOfGroups,
		From: func(schema string) error {
			if schema != watermarkOfGroups && schema != watermarkAlone {
				return fmt.Errorf("its elements were %s and are now %s", schema, watermarkOfGroups)
			}
			return nil
		},
		Save: func() [][]byte {
			e := binary.LittleEndian.AppendUint64(nil, uint64(*at))
			e = binary.LittleEndian.AppendUint32(e, uint32(first))
			return [][]byte{binary.LittleEndian.AppendUint32(e, uint32(last))}
		},
		Load: func(elements [][]byte) error {
			var mine []passage
			for _, e := range elements {
				p := passage{first: first, last: last}
				switch len(e) {
				case 8: // of all subtasks
				case 16:
					p.first, p.last = int(binary.LittleEndian.Uint32(e[8:])), int(binary.LittleEndian.Uint32(e[12:]))
				default:
					return fmt.Errorf("a watermark of a checkpoint has %d bytes, want 16", len(e))
				}
				if p.first <= last && p.last >= first {
					p.at = int64(binary.LittleEndian.Uint64(e))
					mine = append(mine, p)
				}
			}
			for i, p := range mine {
				if i == 0 || p.at < *at {
					*at = p.at
				}
			}
			if beyond != nil {
				*beyond = slices.DeleteFunc(mine, func(p passage) bool { return p.at <= *at })
			}
			return nil
		},
	}
}
