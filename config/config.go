package config

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/weirstream/weir/internal/memory"
)

// A Config is a checked set of settings. It never changes; copies are made by
// With. The nil Config has no settings: every option is at its default.
type Config struct {
	settings map[string]setting // as written, by the name that was written
	values   map[string]any     // of options that are set, by their present key
	raw      map[string]string  // what values was read from, by present key
	ignored  []Ignored
}

// A setting is one value as its source wrote it.
type setting struct {
	value  string
	origin string
}

// Ignored is a setting that is accepted and has no effect, and why.
type Ignored struct {
	Key string
	Why string
}

// New checks kv, whose names may be present or old ones. It fails with an
// *Error.
func New(kv map[string]string) (*Config, error) {
	settings := make(map[string]setting, len(kv))
	for key, value := range kv {
		settings[key] = setting{value: value}
	}
	return build(settings, nil)
}

// With returns a copy of c in which key has value, whatever name the option
// had been set under. It fails with an *Error.
func (c *Config) With(key, value string) (*Config, error) {
	merged := map[string]setting{}
	if c != nil {
		maps.Copy(merged, c.settings)
	}
	overlay(merged, map[string]setting{key: {value: value}})
	return build(merged, nil)
}

// Get returns the text key is set to. For a declared option it looks under
// its old names and fallbacks too.
func (c *Config) Get(key string) (string, bool) {
	if c == nil {
		return "", false
	}
	if raw, ok := c.raw[key]; ok {
		return raw, true
	}
	s, ok := c.settings[key]
	return s.value, ok
}

// Map returns the explicit settings under the names they were written with.
// The caller owns the map.
func (c *Config) Map() map[string]string {
	out := map[string]string{}
	for key, value := range c.Entries() {
		out[key] = value
	}
	return out
}

// Entries yields the explicit settings in the order of their names.
func (c *Config) Entries() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		if c == nil {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(c.settings)) {
			if !yield(key, c.settings[key].value) {
				return
			}
		}
	}
}

// JobSettings gives the settings that go with a job when it is submitted: those
// of options that take effect with the next job, and those of the user's own
// programs, under the names they were written with. The caller owns the map.
func (c *Config) JobSettings() map[string]string {
	out := map[string]string{}
	for name, value := range c.Entries() {
		e, err := Explain(name)
		travels := slices.ContainsFunc(e.Options, func(o Info) bool { return o.Effect == NextJob && o.NoEffect == "" })
		if err == nil && (travels || e.User) {
			out[name] = value
		}
	}
	return out
}

// Origin says where key was written, such as "config.yaml:12" or "-D". It is
// "" for a setting made by New or With, and for one not made.
func (c *Config) Origin(key string) string {
	if c == nil {
		return ""
	}
	return c.settings[key].origin
}

// Ignored lists the settings that have no effect, ordered by key.
func (c *Config) Ignored() []Ignored {
	if c == nil {
		return nil
	}
	return slices.Clone(c.ignored)
}

// build checks settings and reports its problems after those the caller has
// already found.
func build(settings map[string]setting, problems []Problem) (*Config, error) {
	c := &Config{settings: settings, values: map[string]any{}, raw: map[string]string{}}
	found := append(c.readOptions(), c.reporterProblems()...)
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		why, known := c.whyIgnored(key)
		if !known {
			found = append(found, unknownKey(key, settings[key]))
		} else if why != "" {
			c.ignored = append(c.ignored, Ignored{Key: key, Why: why})
		}
	}
	if len(found) == 0 {
		found = append(found, c.contradictions()...)
	}
	if err := errorOf(append(problems, found...)); err != nil {
		return nil, err
	}
	return c, nil
}

// readOptions fills values and raw. A bad value is reported once, under the
// option whose name was written, even if others fall back on it.
func (c *Config) readOptions() []Problem {
	var problems []Problem
	for _, key := range slices.Sorted(maps.Keys(registry)) {
		option := registry[key]
		name, raw, ok := c.written(key, option)
		if !ok {
			continue
		}
		v, err := option.read(raw)
		if err != nil {
			if _, fallback := option.otherNames(); !slices.Contains(fallback, name) {
				problems = append(problems, badValue(name, raw, c.settings[name].origin, option.info(), err))
			}
			continue
		}
		c.values[key], c.raw[key] = v, raw
	}
	return problems
}

// written finds what option is set to, and the name it was written under.
func (c *Config) written(key string, option declared) (name, raw string, ok bool) {
	if s, ok := c.settings[key]; ok {
		return key, s.value, true
	}
	if option.takesMembers() {
		if members := c.members(key); len(members) > 0 {
			return key, formatMap(members), true
		}
	}
	old, fallback := option.otherNames()
	for _, names := range [][]string{old, fallback} {
		for _, name := range names {
			if s, ok := c.settings[name]; ok {
				return name, s.value, true
			}
		}
	}
	return "", "", false
}

// members collects the entries of a map option written one by one.
func (c *Config) members(key string) map[string]string {
	out := map[string]string{}
	for name, s := range c.settings {
		if member, ok := strings.CutPrefix(name, key+"."); ok {
			out[member] = s.value
		}
	}
	return out
}

func badValue(name, raw, origin string, info Info, err error) Problem {
	p := Problem{Origin: origin, Key: name, Value: shown(name, raw)}
	p.What, p.Fix = fmt.Sprintf("%q is no valid %s", p.Value, info.Type), "allowed: "+info.Forms
	if errors.Is(err, errForm) {
		return p
	}
	detail := strings.TrimSuffix(err.Error(), ".")
	if Secret(name) {
		return p
	}
	if bounds, of := strings.CutPrefix(detail, "must "); of {
		p.Fix += ", which must " + bounds
		return p
	}
	if info.Type == size.name {
		detail = fmt.Sprintf("Cannot read memory size from config option '%s'. %s", name, detail)
	}
	p.What += ": " + detail
	return p
}

// whyIgnored says why the setting key has no effect, "" when it has one, and
// whether the key is known at all.
func (c *Config) whyIgnored(key string) (why string, known bool) {
	if option, ok := registry[key]; ok {
		v, ok := c.values[key]
		if !ok {
			return "", true
		}
		return option.inertWhy(v), true
	}
	if current := formerNames[key]; len(current) > 0 {
		if _, both := c.settings[current[0]]; both {
			return "it is the old name of " + current[0] + ", which is set too", true
		}
		return registry[current[0]].inertWhy(c.values[current[0]]), true
	}
	if owner := memberOf(key); owner != "" {
		if _, both := c.settings[owner]; both {
			return owner + " is set as a whole", true
		}
		return "", true
	}
	if why, ok := c.reporterKeyWhy(key); ok {
		return why, true
	}
	return whyWithoutEffect(key)
}

// memberOf returns the declared map option that key is an entry of, or "".
func memberOf(key string) string {
	for i := range key {
		if key[i] == '.' {
			if option, ok := registry[key[:i]]; ok && option.takesMembers() {
				return key[:i]
			}
		}
	}
	return ""
}

// contradictions reports values that are right alone and wrong together.
func (c *Config) contradictions() []Problem {
	var problems []Problem
	interval, timeout := HeartbeatInterval.In(c), HeartbeatTimeout.In(c)
	if timeout < interval {
		problems = append(problems, Problem{
			Key: HeartbeatTimeout.Key, Value: formatDuration(timeout),
			What: fmt.Sprintf("the heartbeat timeout (%s) is shorter than %s (%s)",
				formatDuration(timeout), HeartbeatInterval.Key, formatDuration(interval)),
			Fix: "make it at least as long",
		})
	}
	return append(problems, c.restartContradictions()...)
}

var _ memory.Source = (*Config)(nil)
