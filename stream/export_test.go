package stream

import "github.com/weirstream/weir/internal/cluster/embedded"

// Begun is told of the job once it runs embedded.
func Begun(f func(*embedded.Job)) Option { return func(e *Env) { e.begun = f } }

// Setting sets a configuration key of the job.
func Setting(key, value string) Option { return func(e *Env) { e.set(key, value) } }
