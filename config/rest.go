package config

import "time"

// Where the REST API and web interface of a JobManager listen, and how
// clients reach them.
var (
	RestAddress = declare(text, Option[string]{
		Key: "rest.address", Default: "localhost", Effect: Now,
		FallbackKeys: []string{"jobmanager.rpc.address"},
		Doc:          "The host name or address at which clients reach the REST API.",
	})
	RestPort = declare(integer, Option[int]{
		Key: "rest.port", Default: 8081, Effect: Now,
		OldKeys: []string{"web.port"}, check: between(0, 65535),
		Doc: "The port at which clients reach the REST API. The server listens on it too, unless rest.bind-port is set.",
	})
	RestBindAddress = declare(text, Option[string]{
		Key: "rest.bind-address", Default: "localhost", Effect: ProcessRestart,
		OldKeys: []string{"jobmanager.web.address", "web.address"},
		Doc:     "The address the REST server listens on. It is the loopback unless set; 0.0.0.0 means every interface.",
	})
	RestBindPort = declare(ports, Option[[]PortRange]{
		Key: "rest.bind-port", NoDefault: true, Effect: ProcessRestart,
		OldKeys: []string{"jobmanager.web.port", "web.port"}, FallbackKeys: []string{"rest.port"},
		Doc: "The ports the REST server may listen on; the first free one is taken. Without it, rest.port.",
	})
	RestURLPrefix = declare(text, Option[string]{
		Key: "rest.url-prefix", Default: "/", Effect: Now, check: slashes,
		Doc: "The path, between slashes, that clients put before the path of every request.",
	})
	RestServerMaxContentLength = declare(integer, Option[int]{
		Key: "rest.server.max-content-length", Default: 104857600, Effect: ProcessRestart, check: atLeast(1),
		Doc: "The greatest length of a request's body that the server accepts, in bytes. It also bounds uploads.",
	})
	RestClientMaxContentLength = declare(integer, Option[int]{
		Key: "rest.client.max-content-length", Default: 104857600, Effect: Now, check: atLeast(1),
		Doc:   "The greatest length of a response's body that a client accepts, in bytes.",
		inert: always[int]("a client reads answers of any length in this version"),
	})
	RestConnectionTimeout = declare(duration, Option[time.Duration]{
		Key: "rest.connection-timeout", Default: 15 * time.Second, Effect: Now, check: positive,
		Doc:   "How long a client waits for a connection.",
		inert: always[time.Duration]("a command waits until the cluster answers or it is interrupted, in this version"),
	})
	RestIdlenessTimeout = declare(duration, Option[time.Duration]{
		Key: "rest.idleness-timeout", Default: 5 * time.Minute, Effect: Now, check: positive,
		Doc: "How long a connection may stay idle before it counts as failed.",
	})
	RestRetryMaxAttempts = declare(integer, Option[int]{
		Key: "rest.retry.max-attempts", Default: 20, Effect: Now, check: atLeast(0),
		Doc:   "How often a client repeats an operation that may be repeated.",
		inert: always[int]("a client repeats no operation in this version"),
	})
	RestRetryDelay = declare(duration, Option[time.Duration]{
		Key: "rest.retry.delay", Default: 3 * time.Second, Effect: Now,
		Doc:   "How long a client waits before it repeats an operation.",
		inert: always[time.Duration]("a client repeats no operation in this version"),
	})
	RestAsyncStoreDuration = declare(duration, Option[time.Duration]{
		Key: "rest.async.store-duration", Default: 5 * time.Minute, Effect: ProcessRestart,
		Doc: "How long the result of an asynchronous operation, such as a savepoint, can be fetched; zero means for ever.",
	})
)

// What the web interface allows and how it behaves.
var (
	WebSubmitEnable = declare(boolean, Option[bool]{
		Key: "web.submit.enable", Default: true, Effect: ProcessRestart,
		OldKeys: []string{"jobmanager.web.submit.enable"},
		Doc:     "Whether programs can be uploaded and run through the REST API.",
	})
	WebCancelEnable = declare(boolean, Option[bool]{
		Key: "web.cancel.enable", Default: true, Effect: ProcessRestart,
		Doc: "Whether the web interface offers to cancel jobs.",
	})
	WebRescaleEnable = declare(boolean, Option[bool]{
		Key: "web.rescale.enable", Default: true, Effect: ProcessRestart,
		Doc: "Whether the web interface offers to change the parallelism of jobs, which it does where jobmanager.scheduler is Adaptive and scheduler-mode is not REACTIVE.",
	})
	WebUploadDir = declare(text, Option[string]{
		Key: "web.upload.dir", NoDefault: true, Effect: ProcessRestart,
		OldKeys: []string{"jobmanager.web.upload.dir"},
		Doc:     "The directory for uploaded programs. Without it, one under web.tmpdir that goes with the process.",
	})
	WebTmpDir = declare(text, Option[string]{
		Key: "web.tmpdir", NoDefault: true, Effect: ProcessRestart,
		OldKeys: []string{"jobmanager.web.tmpdir"},
		Doc:     "The directory for files of the web interface. Without it, the first of io.tmp.dirs.",
	})
	WebRefreshInterval = declare(duration, Option[time.Duration]{
		Key: "web.refresh-interval", Default: 3 * time.Second, Effect: ProcessRestart,
		OldKeys: []string{"jobmanager.web.refresh-interval"},
		Doc:     "How often the web interface fetches new figures.",
	})
	WebTimeout = declare(duration, Option[time.Duration]{
		Key: "web.timeout", Default: 10 * time.Minute, Effect: ProcessRestart, check: positive,
		Doc: "How long a request to the REST API may take inside the cluster.",
	})
	WebHistory = declare(integer, Option[int]{
		Key: "web.history", Default: 5, Effect: ProcessRestart, check: atLeast(0),
		OldKeys: []string{"jobmanager.web.history"},
		Doc:     "How many finished jobs the web interface lists.",
		inert:   always[int]("finished jobs are bounded by completed-application-store.max-capacity"),
	})
	WebExceptionHistorySize = declare(integer, Option[int]{
		Key: "web.exception-history-size", Default: 16, Effect: ProcessRestart, check: atLeast(1),
		Doc: "How many failures of a job are kept for display; the newest stay.",
	})
	WebRescaleHistorySize = declare(integer, Option[int]{
		Key: "web.adaptive-scheduler.rescale-history.size", Default: 0, Effect: ProcessRestart,
		Doc: "How many rescales of a job are kept for display; the newest stay. With 0 or less, none are shown, and only the newest is remembered.",
	})
	WebAccessControlAllowOrigin = declare(text, Option[string]{
		Key: "web.access-control-allow-origin", Default: "*", Effect: ProcessRestart,
		OldKeys: []string{"jobmanager.web.access-control-allow-origin"},
		Doc:     "The Access-Control-Allow-Origin header of every response.",
	})
)
