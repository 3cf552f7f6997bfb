package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// writer puts files into a directory and counts their words itself.
type writer struct {
	dir    string
	random *rand.Rand
	files  int
	words  int
	counts map[string]int
}

func newWriter(dir string) *writer {
	return &writer{dir: dir, random: rand.New(rand.NewPCG(1, 2)), counts: map[string]int{}}
}

// put writes the next file whole, and then gives it its name.
func (w *writer) put() error {
	var text strings.Builder
	for range 200 {
		for range 10 {
			// Small numbers are frequent, as some words are.
			word := "w" + strconv.Itoa(int(w.random.ExpFloat64()*100))
			w.counts[word]++
			w.words++
			text.WriteString(word + " ")
		}
		text.WriteByte('\n')
	}
	w.files++
	name := fmt.Sprintf("text-%03d", w.files)
	hidden := filepath.Join(w.dir, "."+name)
	return errors.Join(os.WriteFile(hidden, []byte(text.String()), 0o666), os.Rename(hidden, filepath.Join(w.dir, name)))
}

// counted is what the job's finished files hold.
type counted struct {
	words  int
	counts map[string]int // by word, how many lines it has: the numbers 1 to that, each once
}

// count reads all finished files. It fails if a number is there twice or is missing.
func count(dir string) (counted, error) {
	numbers := map[string]map[int]bool{}
	all := counted{counts: map[string]int{}}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir() && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			word, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			n, err := strconv.Atoi(number)
			if err != nil {
				return fmt.Errorf("%s holds the line %q", path, line)
			}
			if numbers[word] == nil {
				numbers[word] = map[int]bool{}
			}
			if numbers[word][n] {
				return fmt.Errorf("WRONG: %q was counted to %d twice", word, n)
			}
			numbers[word][n] = true
			all.words++
		}
		return nil
	})
	if err != nil {
		return all, err
	}
	for word, seen := range numbers {
		for n := 1; n <= len(seen); n++ {
			if !seen[n] {
				return all, fmt.Errorf("WRONG: %q was counted %d times, and %d is missing", word, len(seen), n)
			}
		}
		all.counts[word] = len(seen)
	}
	return all, nil
}

// within checks that no word was counted more often than it was put in.
func (c counted) within(put map[string]int) error {
	for word, n := range c.counts {
		if n > put[word] {
			return fmt.Errorf("WRONG: %q was counted %d times, and put in %d times", word, n, put[word])
		}
	}
	return nil
}
