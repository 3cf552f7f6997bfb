package ast

// Use is USE database or USE CATALOG catalog.
type Use struct {
	Span
	// Kind is DATABASE or CATALOG.
	Kind ObjectKind
	Name ObjectName
}

// UseModules is USE MODULES a, b.
type UseModules struct {
	Span
	Modules []Name
}

// LoadModule is LOAD MODULE name [WITH (…)].
type LoadModule struct {
	Span
	Name Name
	// With is set if WITH was written.
	With    bool
	Options []*Option
}

// UnloadModule is UNLOAD MODULE name.
type UnloadModule struct {
	Span
	Name Name
}

// Set is SET 'key' = 'value', or SET alone, which shows all. Key and value may
// have been written without quotes.
type Set struct {
	Span
	// Key and Value are nil for SET alone.
	Key, Value *StringLiteral
}

// Reset is RESET 'key', or RESET alone.
type Reset struct {
	Span
	Key *StringLiteral
}

// Jar is ADD JAR 'path' or REMOVE JAR 'path'.
type Jar struct {
	Span
	Remove bool
	Path   *StringLiteral
}

// StopJob is STOP JOB 'id' [WITH SAVEPOINT [WITH DRAIN]].
type StopJob struct {
	Span
	Job              *StringLiteral
	Savepoint, Drain bool
}

// Command is a word for the client: HELP, CLEAR, QUIT (EXIT too) or SOURCE.
type Command struct {
	Span
	Word string
	// Argument is SOURCE's file, or nil.
	Argument *StringLiteral
}

func (*Use) statement()          {}
func (*UseModules) statement()   {}
func (*LoadModule) statement()   {}
func (*UnloadModule) statement() {}
func (*Set) statement()          {}
func (*Reset) statement()        {}
func (*Jar) statement()          {}
func (*StopJob) statement()      {}
func (*Command) statement()      {}

func (n *Use) children(f func(Node))          { f(&n.Name) }
func (n *UseModules) children(f func(Node))   { names(n.Modules, f) }
func (n *UnloadModule) children(f func(Node)) { f(&n.Name) }
func (n *Reset) children(f func(Node))        { some(n.Key, f) }
func (n *Jar) children(f func(Node))          { f(n.Path) }
func (n *StopJob) children(f func(Node))      { f(n.Job) }
func (n *Command) children(f func(Node))      { some(n.Argument, f) }

func (n *LoadModule) children(f func(Node)) {
	f(&n.Name)
	each(n.Options, f)
}

func (n *Set) children(f func(Node)) {
	some(n.Key, f)
	some(n.Value, f)
}
