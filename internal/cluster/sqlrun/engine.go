package sqlrun

import (
	"maps"
	"net"
	"strconv"
	"time"

	"github.com/weirstream/weir/client"
	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/builtin"
	"github.com/weirstream/weir/internal/sql/engine"
)

// NewEngine makes an engine that knows all that is built in, whose sessions begin with
// the settings of the configuration.
func NewEngine(cfg *config.Config, runner engine.Runner) *engine.Engine {
	return engine.New(engine.Options{
		Registry: builtin.Registry(), Connectors: builtin.Connectors(), Runner: runner, Settings: maps.Collect(cfg.Entries()), Now: time.Now,
	})
}

// NewRemote makes the master of the cluster that the configuration names.
func NewRemote(cfg *config.Config) Remote {
	return Remote{client.New(net.JoinHostPort(config.RestAddress.In(cfg), strconv.Itoa(config.RestPort.In(cfg))))}
}
