//go:build unix

package session

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/logging"
)

// A Reread is a configuration that was read again while the process runs, or the
// reason why it could not be used.
type Reread struct {
	Config *config.Config // nil if Err is not
	Err    error
}

// follow takes over the level of the log from each configuration that is read
// again, which is all that can change while the process runs. What else has
// changed is told, with when it takes effect.
func (l *processLog) follow(present *config.Config, reread <-chan Reread) {
	for {
		select {
		case <-l.stop:
			return
		case r := <-reread:
			if r.Err != nil {
				l.Warn("the configuration is not taken over, everything stays as it is", "error", r.Err)
				continue
			}
			l.setLevel(r.Config)
			l.tellChanges(present, r.Config)
			present = r.Config
		}
	}
}

func (l *processLog) setLevel(cfg *config.Config) {
	to, err := logging.ParseLevel(config.LogLevel.In(cfg))
	if err != nil { // a configuration that was checked allows no other names
		l.Warn("the level of the log stays", "error", err)
		return
	}
	from := l.level.Level()
	l.level.Set(to)
	// At the severity of the less talkative level, so that it is always written.
	l.Log(context.Background(), max(to, slog.LevelInfo), "configuration read again",
		"levelFrom", logging.LevelName(from), "levelTo", logging.LevelName(to))
}

func (l *processLog) tellChanges(before, after *config.Config) {
	for _, key := range changed(before.Map(), after.Map()) {
		e, err := config.Explain(key)
		if err != nil || len(e.Options) == 0 || e.Why != "" || e.Options[0].Effect == config.OnHangup {
			continue
		}
		l.Info("a setting has changed", "key", key, "takesEffect", e.Options[0].Effect)
	}
}

// changed gives the keys that one of two configurations sets otherwise than the
// other, in order.
func changed(before, after map[string]string) []string {
	all := maps.Clone(before)
	maps.Copy(all, after)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(key string) bool {
		was, had := before[key]
		is, has := after[key]
		return had == has && was == is
	})
}
