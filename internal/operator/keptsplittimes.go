package operator

import (
	"encoding/json/v2"
	"fmt"
	"maps"
	"slices"
)

// splitTimesKept are the event times of a source's splits in checkpoints. They are
// kept beside the splits so that, after a restore, no record is late or in time that
// would not have been without it. All subtasks get those of all, since a split may
// come to any of them.
type splitTimesKept struct {
	open     map[string]func() SplitTime // of splits that the reader has begun
	restored map[string]SplitTime        // of those that it may still begin
	early    int                         // how many splits of the checkpoint it has not begun, at most
}

type savedSplitTime struct {
	Split string `json:"split"`
	SplitTime
}

func (k *splitTimesKept) save() (all [][]byte) {
	times := maps.Clone(k.restored)
	if times == nil {
		times = map[string]SplitTime{}
	}
	for split, time := range k.open { // order: each by itself
		times[split] = time()
	}
	for _, split := range slices.Sorted(maps.Keys(times)) {
		if times[split] == noSplitTime {
			continue
		}
		text, err := json.Marshal(savedSplitTime{split, times[split]})
		Check(err)
		all = append(all, text)
	}
	return all
}

func (k *splitTimesKept) load(elements [][]byte) error {
	k.restored = map[string]SplitTime{}
	for _, text := range elements {
		var saved savedSplitTime
		if err := json.Unmarshal(text, &saved); err != nil {
			return fmt.Errorf("read the event time of a split: %w", err)
		}
		// One that several tell of is with none of those that only wait for it.
		if other, known := k.restored[saved.Split]; !known || saved.Watermark > other.Watermark || saved.Latest > other.Latest {
			k.restored[saved.Split] = saved.SplitTime
		}
	}
	return nil
}

// expect says how many splits the reader is given with the checkpoint.
func (k *splitTimesKept) expect(splits int) {
	if k.early = splits; splits == 0 {
		k.restored = nil
	}
}

// begin gives the time that a split had in the checkpoint. When the reader has begun
// as many as it was given, those that are left are of others.
func (k *splitTimesKept) begin(split string) SplitTime {
	had, known := k.restored[split]
	if !known {
		had = noSplitTime
	}
	delete(k.restored, split)
	if k.early--; k.early <= 0 {
		k.restored, k.early = nil, 0
	}
	return had
}
