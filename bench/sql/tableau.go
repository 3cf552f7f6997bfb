package main

import (
	"errors"
	"fmt"
	"strings"
)

// readTableau takes the last result out of what a client has printed: a table
// framed by lines of "+" and "-", or "Empty set". Flink's client repeats the
// statement, so that the first line of the frame may stand behind its last line.
func readTableau(out string) (answer, error) {
	if err := refusal(out); err != nil {
		return answer{}, err
	}
	lines := strings.Split(out, "\n")
	var frames []int
	for i, line := range lines {
		if strings.HasPrefix(line, "+-") && strings.Trim(line, "+-") == "" {
			frames = append(frames, i)
		}
	}
	switch {
	case len(frames) == 0 && strings.Contains(out, "Empty set"):
		return answer{}, nil
	case len(frames) < 2:
		return answer{}, fmt.Errorf("read a result: no table in %q", out[max(0, len(out)-200):])
	}
	below, end := frames[len(frames)-2], frames[len(frames)-1] // the header, the rows
	var a answer
	for _, line := range lines[below+1 : end] {
		row, err := cells(line, lines[below])
		if err != nil {
			return answer{}, err
		}
		a.rows = append(a.rows, row)
	}
	return a, nil
}

// cells cuts a line where the frame has a plus sign, so that a value may hold a
// bar. All characters are one column wide.
func cells(line, frame string) ([]string, error) {
	text := []rune(line)
	if len(text) != len(frame) {
		return nil, fmt.Errorf("read a result: line %q is not as long as its frame", line)
	}
	var all []string
	from := 1
	for i := 1; i < len(frame); i++ {
		if frame[i] == '+' {
			all = append(all, strings.TrimSpace(string(text[from:i])))
			from = i + 1
		}
	}
	return all, nil
}

// refusal is the error that a client has printed, if it has.
func refusal(out string) error {
	_, text, is := strings.Cut(out, "[ERROR]")
	if !is {
		return nil
	}
	text = strings.Join(strings.Fields(text), " ")
	return errors.New(text[:min(len(text), 400)])
}
