package config

import "time"

// The SQL gateway.
var (
	SQLGatewayAddress = declare(text, Option[string]{
		Key: "sql-gateway.endpoint.rest.address", Default: "localhost", Effect: ProcessRestart,
		Doc: "The address at which clients reach the SQL gateway.",
	})
	SQLGatewayBindAddress = declare(text, Option[string]{
		Key: "sql-gateway.endpoint.rest.bind-address", Default: "localhost", Effect: ProcessRestart,
		FallbackKeys: []string{"sql-gateway.endpoint.rest.address"},
		Doc:          "The address the SQL gateway listens on. It is sql-gateway.endpoint.rest.address unless set; 0.0.0.0 means every interface.",
	})
	SQLGatewayPort = declare(integer, Option[int]{
		Key: "sql-gateway.endpoint.rest.port", Default: 8083, Effect: ProcessRestart, check: between(0, 65535),
		Doc: "The port at which clients reach the SQL gateway; 0 = any free port. If it is rest.port, the JobManager serves the SQL gateway beside its own API, and no other process is needed.",
	})
	SQLGatewayBindPort = declare(ports, Option[[]PortRange]{
		Key: "sql-gateway.endpoint.rest.bind-port", NoDefault: true, Effect: ProcessRestart,
		Doc: "The port the SQL gateway listens on, or ranges of which the first free one is taken. It is sql-gateway.endpoint.rest.port unless set.",
	})
	SQLGatewaySessionIdleTimeout = declare(duration, Option[time.Duration]{
		Key: "sql-gateway.session.idle-timeout", Default: 10 * time.Minute, Effect: ProcessRestart,
		Doc: "After how long without a request the SQL gateway closes a session that runs no statement; 0 = never.",
	})
	SQLGatewaySessionMaxNum = declare(integer, Option[int]{
		Key: "sql-gateway.session.max-num", Default: 1_000_000, Effect: ProcessRestart, check: atLeast(1),
		Doc: "How many sessions the SQL gateway has at most.",
	})
)
