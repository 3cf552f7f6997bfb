package filesystem

import (
	"encoding/json/v2"
	"fmt"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/connector"
)

// splits are those of one subtask. While one is read the next has already been asked for.
// P is a part of a file.
type splits[P any] struct {
	c   connector.SourceContext
	out connector.Output[*batch.Columns]
	to  connector.SplitOutput[*batch.Columns] // of the one that is read

	received []splitOf[P] // and not begun
	asked    bool         // an answer is owed
	done     bool         // no split is left
	open     bool         // a split is being read
	id       int
	parts    []P // of it, not begun
}

// splitOf is a split.Split whose parts may say more.
type splitOf[P any] struct {
	ID    int `json:"id"`
	Files []P `json:"files"`
}

// Add takes a split.
func (s *splits[P]) Add(text []byte) error {
	var received splitOf[P]
	if err := json.Unmarshal(text, &received); err != nil {
		return fmt.Errorf("read files: read a split: %w", err)
	}
	s.received, s.asked = append(s.received, received), false
	return nil
}

// NoMore says that no split is left.
func (s *splits[P]) NoMore() error {
	s.asked, s.done = false, true
	return nil
}

// nextPart gives the part that is to be read next. If there is none, it says whether one may
// come.
func (s *splits[P]) nextPart() (part P, wait connector.Progress, ok bool) {
	for {
		switch {
		case len(s.parts) > 0:
			part, s.parts = s.parts[0], s.parts[1:]
			return part, connector.More, true
		case s.open:
			s.open = false
			s.to.End()
		case len(s.received) > 0:
			begun := s.received[0]
			s.received = s.received[1:]
			s.open, s.id, s.parts = true, begun.ID, begun.Files
			s.to = s.out.Begin(fmt.Sprint(begun.ID))
			s.ask()
		case s.done:
			return part, connector.Done, false
		default:
			s.ask()
			return part, connector.Wait, false
		}
	}
}

// ask sends for the next split, unless some are there.
func (s *splits[P]) ask() {
	if !s.asked && !s.done && len(s.received) == 0 {
		s.asked = true
		s.c.Request()
	}
}

// rest gives what is not read, after what is left of the part that is being read.
func (s *splits[P]) rest(left ...P) (all [][]byte, err error) {
	for _, of := range append([]splitOf[P]{{s.id, append(left, s.parts...)}}, s.received...) {
		if len(of.Files) == 0 {
			continue
		}
		text, err := json.Marshal(of)
		if err != nil {
			return nil, fmt.Errorf("read files: write down a split: %w", err)
		}
		all = append(all, text)
	}
	return all, nil
}
