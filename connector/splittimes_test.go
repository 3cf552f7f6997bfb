package connector

import (
	"fmt"
	"strings"
	"testing"
)

func TestSplitTimes(t *testing.T) {
	var told []string
	s := NewSplitTimes(func(w int64) { told = append(told, fmt.Sprint("W", w)) }, func(idle bool) { told = append(told, fmt.Sprint("idle ", idle)) })
	for i, step := range []struct {
		do   func()
		want string
	}{
		{func() { s.Begin("a"); s.Begin("b"); s.Advance("a", 5) }, ""},
		{func() { s.Advance("b", 3) }, "W3"},
		{func() { s.Advance("b", 9) }, "W5"},
		{func() { s.Advance("a", 4) }, ""}, // a watermark does not go back
		{func() { s.Idle("a") }, "W9"},
		{func() { s.Idle("b") }, "idle true"},
		{func() { s.Advance("a", 6) }, "idle false"}, // behind what has been told
		{func() { s.Advance("a", 12) }, "W12"},
		{func() { s.Begin("c"); s.Advance("a", 20) }, ""},
		{func() { s.End("c") }, "W20"},
		{func() { s.End("a") }, "idle true"}, // b is idle
		{func() { s.Idle("nobody") }, ""},
		{func() { s.End("b") }, ""}, // nobody knows what comes next
	} {
		told = nil
		step.do()
		if got := strings.Join(told, " "); got != step.want {
			t.Errorf("step %d: told %q, want %q", i, got, step.want)
		}
	}
}
