package memory

// A Source hands out settings as they were written. Get returns the value of
// the option with this key, under whichever of its names it was set, and
// whether it was set at all. A *config.Config is a Source.
type Source interface {
	Get(key string) (value string, set bool)
}
