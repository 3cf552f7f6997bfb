package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
)

// A Problem is one mistake in a configuration.
type Problem struct {
	Origin string // where the value was written: "config.yaml:12", "-D", "WEIR_PROPERTIES:3"; may be empty
	Key    string // as written; empty when no key could be read
	Value  string // as written, or hidden when the key names a secret
	What   string // what is wrong
	Fix    string // what is allowed, or what was probably meant; may be empty
}

// String is the problem on one line.
func (p Problem) String() string {
	var b strings.Builder
	if p.Origin != "" {
		b.WriteString(p.Origin + ": ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.What)
	if p.Fix != "" {
		b.WriteString("; " + p.Fix)
	}
	return b.String()
}

// An Error lists everything that is wrong with a configuration. A process
// that meets it exits with ExitCode.
type Error struct {
	Problems []Problem // at least one, in the order of source, line and key
}

// ExitCode is the exit status of a process whose configuration is refused.
const ExitCode = 78

// Error gives each problem its own line.
func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return "invalid configuration: " + e.Problems[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "invalid configuration, %d problems:", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// errorOf returns nil when there is no problem. Problems of a file come first,
// line by line, then those of WEIR_PROPERTIES, of -D, and of no one place.
func errorOf(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		sourceA, lineA := a.place()
		sourceB, lineB := b.place()
		return cmp.Or(cmp.Compare(sourceA, sourceB), cmp.Compare(lineA, lineB), cmp.Compare(a.Key, b.Key))
	})
	return &Error{Problems: problems}
}

// place gives an origin's number in the order of the sources, and its line.
func (p *Problem) place() (source, line int) {
	file, number := p.Origin, ""
	if i := strings.LastIndexByte(file, ':'); i >= 0 {
		file, number = file[:i], file[i+1:]
	}
	line, err := strconv.Atoi(number)
	if err != nil {
		line = math.MaxInt // of the file as a whole
	}
	switch file {
	case PropertiesVariable:
		return 1, line
	case "-D":
		return 2, line
	case "":
		return 3, line
	}
	return 0, line
}

func unknownKey(key string, s setting) Problem {
	p := Problem{Origin: s.origin, Key: key, Value: shown(key, s.value), What: "unknown option"}
	if instead := removed[key]; instead != "" {
		p.What, p.Fix = "Flink has removed this option", instead
	} else if near := nearest(key); near != "" {
		p.Fix = fmt.Sprintf("did you mean %s?", near)
	} else {
		p.Fix = "options of your own program begin with " + userPrefix
	}
	return p
}

// nearest returns the known key that key was most likely meant to be: the one
// it differs from in case only, else one that ends in it, else the one at the
// smallest edit distance, in which case at most a third of the key may differ.
// It returns "" when nothing is near.
func nearest(key string) string {
	lower := strings.ToLower(key)
	best, bestDistance := "", max(2, len(key)/3)+1
	for _, candidate := range suggestions() {
		known := strings.ToLower(candidate)
		if known == lower {
			return candidate
		}
		if bestDistance > 0 && lower != "" && strings.HasSuffix(known, "."+lower) {
			best, bestDistance = candidate, 0
		}
		if gap := len(known) - len(lower); gap >= bestDistance || -gap >= bestDistance {
			continue
		}
		if d := levenshtein.ComputeDistance(lower, known); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// Hidden replaces the value of a key that names a secret.
const Hidden = "******"

// secretWords are the parts of a key that mark its value as secret, in lower
// case.
var secretWords = []string{
	"password", "secret", "fs.azure.account.key", "apikey", "api-key", "auth-params",
	"service-key", "token", "basic-auth", "jaas.config", "http-headers",
}

// Secret says whether the value of key must not be shown: in logs, error
// texts, the REST API or the web interface.
func Secret(key string) bool {
	lower := strings.ToLower(key)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(lower, word) })
}

func shown(key, value string) string {
	if Secret(key) {
		return Hidden
	}
	return value
}
