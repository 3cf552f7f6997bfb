package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An Effect says when a changed value is first used.
type Effect int

const (
	// Now: by the next command, or at once by a process told of it.
	Now Effect = iota
	// NextJob: by jobs submitted after the change. `weir run` sends these
	// settings with the job, see Config.JobSettings.
	NextJob
	// ProcessRestart: once the process that reads it has been started again.
	ProcessRestart
	// OnHangup: at once by a process that gets the signal SIGHUP, upon which it
	// reads its configuration again.
	OnHangup
)

func (e Effect) String() string {
	switch e {
	case Now:
		return "now"
	case NextJob:
		return "with the next job"
	case ProcessRestart:
		return "after a restart of the process"
	case OnHangup:
		return "now (SIGHUP)"
	}
	return fmt.Sprintf("Effect(%d)", int(e))
}

// An Option is one setting with a value of type T. The package declares all
// of them as variables; a value of this type made elsewhere has no use.
type Option[T any] struct {
	Key     string
	Default T
	Doc     string
	Effect  Effect
	// OldKeys are earlier names of the same option; the new name wins when
	// both are written by the same source.
	OldKeys []string
	// FallbackKeys are other options whose value holds where this one is not
	// set.
	FallbackKeys []string
	// NoDefault marks an option that is off until it is set. Default is then
	// the zero value, and Lookup tells the two apart.
	NoDefault bool

	kind kind[T]
	// check refuses values of the right type that are out of range, in a
	// phrase that says what is allowed. Nil allows all.
	check func(T) error
	// inert returns why a value has no effect in this version, or "". Nil
	// means every value has its effect.
	inert func(T) string
}

// always is the reason of an option that never has an effect.
func always[T any](why string) func(T) string {
	return func(T) string { return why }
}

// unless is the reason of an option that has only one value that does what it
// says: all others have no effect.
func unless[T comparable](only T, why string) func(T) string {
	return func(v T) string {
		if v == only {
			return ""
		}
		return why
	}
}

// In returns the value c gives the option, or Default. A nil c holds no
// settings.
func (o Option[T]) In(c *Config) T {
	v, _ := o.Lookup(c)
	return v
}

// Lookup is In, and says whether the option was set, under any of its names
// or by a fallback.
func (o Option[T]) Lookup(c *Config) (T, bool) {
	if c != nil {
		if v, ok := c.values[o.Key]; ok {
			return v.(T), true
		}
	}
	return o.Default, false
}

// Set returns a copy of c with the option set to v. It fails with an *Error
// when v is out of range.
func (o Option[T]) Set(c *Config, v T) (*Config, error) {
	return c.With(o.Key, o.kind.format(v))
}

// Info describes an option without its type, for help texts and tools.
type Info struct {
	Key          string
	Type         string // "duration", "memory size", …
	Forms        string // what may be written
	Default      string // as one would write it; "(none)" when there is none
	Doc          string
	Effect       Effect
	OldKeys      []string
	FallbackKeys []string
	// NoEffect says why the option does nothing in this version; "" when it
	// has its effect, at least at its default. A value that has none where
	// others have is told by Config.Ignored.
	NoEffect string
}

// Options returns all declared options, ordered by key.
func Options() []Info {
	infos := make([]Info, 0, len(registry))
	for _, key := range slices.Sorted(maps.Keys(registry)) {
		infos = append(infos, registry[key].info())
	}
	return infos
}

// Describe returns the option that has key as its name or an old name.
func Describe(key string) (Info, bool) {
	if d, ok := registry[key]; ok {
		return d.info(), true
	}
	if current := formerNames[key]; len(current) > 0 {
		return registry[current[0]].info(), true
	}
	return Info{}, false
}

// declared is an option without its type parameter.
type declared interface {
	info() Info
	// read parses and checks what was written.
	read(raw string) (any, error)
	// inertWhy returns why a value returned by read has no effect, or "".
	inertWhy(v any) string
	// otherNames returns the earlier names and the fallbacks. The caller
	// must not change them.
	otherNames() (old, fallback []string)
	// takesMembers says that NAME.member is a way to write an entry of NAME.
	takesMembers() bool
}

var (
	// registry holds every option by its key. It is complete once the
	// package is initialised and never changes after.
	registry = map[string]declared{}
	// formerNames gives the keys of the options that once had a name. Two
	// options may share one.
	formerNames = map[string][]string{}
)

// declare enters an option. It panics on a key declared twice, which is a
// mistake in this package.
func declare[T any](k kind[T], o Option[T]) Option[T] {
	if _, taken := registry[o.Key]; taken {
		panic("config: option declared twice: " + o.Key)
	}
	o.kind = k
	registry[o.Key] = o
	for _, old := range o.OldKeys {
		formerNames[old] = append(formerNames[old], o.Key)
	}
	return o
}

func (o Option[T]) info() Info {
	def := "(none)"
	if !o.NoDefault {
		def = o.kind.format(o.Default)
	}
	return Info{
		Key: o.Key, Type: o.kind.name, Forms: o.kind.forms, Default: def, Doc: o.Doc, Effect: o.Effect,
		OldKeys: slices.Clone(o.OldKeys), FallbackKeys: slices.Clone(o.FallbackKeys), NoEffect: o.inertWhy(o.Default),
	}
}

func (o Option[T]) read(raw string) (any, error) {
	v, err := o.kind.parse(strings.TrimSpace(raw))
	if err != nil {
		return nil, err
	}
	if o.check != nil {
		if err := o.check(v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (o Option[T]) inertWhy(v any) string {
	if o.inert == nil {
		return ""
	}
	return o.inert(v.(T))
}

func (o Option[T]) otherNames() (old, fallback []string) { return o.OldKeys, o.FallbackKeys }

func (o Option[T]) takesMembers() bool { return o.kind.members }
