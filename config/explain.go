package config

import (
	"maps"
	"slices"
	"strings"
)

// An Explanation is what there is to say about a key.
type Explanation struct {
	Key string // as it was asked for
	// Options are what the key sets: one, or two where an old name was split.
	// None: nothing here reads it.
	Options []Info
	// Current is the present name of an old one that no option here has; "".
	Current string
	// Why says why nothing comes of the key, whatever it is set to; "" when it
	// has an effect.
	Why string
	// User says that the key belongs to the user's own program.
	User bool
}

// Explain says what key means, be it a present or an old name, an entry of a
// map, or a key of Flink's that has no effect here. It fails with an *Error that
// suggests the nearest key when there is none of that name.
func Explain(key string) (Explanation, error) {
	e := Explanation{Key: key}
	owners := formerNames[key]
	if _, ok := registry[key]; ok {
		owners = []string{key}
	} else if owner := memberOf(key); owner != "" {
		owners = []string{owner}
	}
	for _, owner := range owners {
		info := registry[owner].info()
		e.Options = append(e.Options, info)
		e.Why = info.NoEffect
	}
	if slices.ContainsFunc(e.Options, func(i Info) bool { return i.NoEffect == "" }) {
		e.Why = ""
	}
	if len(e.Options) > 0 {
		return e, nil
	}
	if info, ok := reporterInfo(key); ok {
		e.Options = []Info{info}
		return e, nil
	}
	why, isKnown := whyWithoutEffect(key)
	if !isKnown {
		return e, &Error{Problems: []Problem{unknownKey(key, setting{})}}
	}
	e.Why, e.User, e.Current = why, why == "", known().current[key]
	if e.Current != "" {
		e.Why = reason(e.Current)
	}
	return e, nil
}

// A Setting is what an option is set to.
type Setting struct {
	Name   string // under which it was written: the option's, an old one or a fallback
	Value  string // as written, or Hidden
	Origin string // as Config.Origin
	// Why says why this value has no effect; "" when it has.
	Why string
}

// Setting says what the option key, in its present name, is set to in c; false
// when it is at its default.
func (c *Config) Setting(key string) (Setting, bool) {
	option, declared := registry[key]
	if c == nil || !declared {
		return Setting{}, false
	}
	name, raw, ok := c.written(key, option)
	if !ok {
		return Setting{}, false
	}
	return Setting{Name: name, Value: shown(name, raw), Origin: c.Origin(name), Why: option.inertWhy(c.values[key])}, true
}

// WithoutEffect gives Flink's keys that nothing here reads, in order, by the
// reason why. Families stand as NAME.*.
func WithoutEffect() map[string][]string {
	byReason := map[string][]string{}
	k := known()
	for _, key := range slices.Sorted(maps.Keys(k.exact)) {
		if _, ok := registry[key]; ok || len(formerNames[key]) > 0 || k.current[key] != "" {
			continue
		}
		byReason[reason(key)] = append(byReason[reason(key)], key)
	}
	for _, family := range slices.Concat(k.families, openPrefixes) {
		if registry[strings.TrimSuffix(family, ".")] == nil {
			byReason[reason(family)] = append(byReason[reason(family)], family+"*")
		}
	}
	return byReason
}
