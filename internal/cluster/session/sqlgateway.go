//go:build unix

package session

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/cluster/sqlrun"
	"github.com/weirstream/weir/internal/rest"
	"github.com/weirstream/weir/internal/sqlgateway"
)

// SQLGateway runs an SQL gateway in front of a cluster until ctx ends. A configuration
// that cannot be used gives a *config.Error.
func SQLGateway(ctx context.Context, o Options) (err error) {
	log, err := openLog(o, "sql-gateway")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.close()) }()
	listener, err := sqlgateway.Listen(o.Config)
	if err != nil {
		log.Error("SQL gateway did not start", "error", err)
		return err
	}
	master := sqlrun.NewRemote(o.Config)
	defer master.Close()
	engine := sqlrun.NewEngine(o.Config, sqlrun.NewCluster(master))
	server := sqlgateway.New(sqlgateway.Options{Config: o.Config, Engine: engine, Version: rest.FlinkVersion, Logger: log.Logger})
	var running sync.WaitGroup
	running.Go(func() {
		if err := server.Serve(listener); err != nil {
			log.Error("the SQL gateway has ended", "error", err)
		}
	})
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	address := net.JoinHostPort(config.SQLGatewayAddress.In(o.Config), port)
	log.Info("SQL gateway started", "address", "http://"+address, "listens", listener.Addr().String(), "cluster", master.Address())
	if o.Started != nil {
		o.Started(address)
	}
	<-ctx.Done()
	end, cancel := ending(o.Config)
	defer cancel()
	err = server.Shutdown(end)
	running.Wait()
	log.Info("SQL gateway ended", "error", err)
	return err
}

// besideREST reports whether the JobManager is to serve the SQL gateway too, on the port
// of its own API.
func besideREST(cfg *config.Config) bool {
	if _, set := config.SQLGatewayBindPort.Lookup(cfg); set {
		return false
	}
	port := config.RestPort.In(cfg)
	return port != 0 && config.SQLGatewayPort.In(cfg) == port
}

// gateway makes the SQL gateway that the JobManager serves beside its own API; nil: none.
func (j *jobManager) gateway() rest.Sibling {
	o := j.options
	if !besideREST(o.Config) {
		return nil
	}
	engine := sqlrun.NewEngine(o.Config, sqlrun.NewCluster(sqlrun.Local{Dispatcher: j.master.Dispatcher()}))
	j.sql = sqlgateway.New(sqlgateway.Options{Config: o.Config, Engine: engine, Version: rest.FlinkVersion, Logger: j.log})
	j.log.Info("the SQL gateway is served beside the REST API", config.SQLGatewayPort.Key, config.SQLGatewayPort.In(o.Config))
	return j.sql
}
