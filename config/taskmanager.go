package config

import "time"

// A TaskManager process and its connections.
var (
	TaskManagerHost = declare(text, Option[string]{
		Key: "taskmanager.host", NoDefault: true, Effect: ProcessRestart,
		Doc: "The host name or address at which others reach the TaskManager. Without it, the address it listens on.",
	})
	TaskManagerBindHost = declare(text, Option[string]{
		Key: "taskmanager.bind-host", Default: "localhost", Effect: ProcessRestart,
		Doc: "The address the TaskManager listens on. It is the loopback unless set; 0.0.0.0 means every interface.",
	})
	TaskManagerRPCPort = declare(ports, Option[[]PortRange]{
		Key: "taskmanager.rpc.port", Default: []PortRange{{0, 0}}, Effect: ProcessRestart,
		Doc: "The ports the TaskManager may use for calls; the first free one is taken.",
	})
	TaskManagerRPCBindPort = declare(integer, Option[int]{
		Key: "taskmanager.rpc.bind-port", NoDefault: true, Effect: ProcessRestart, check: between(0, 65535),
		Doc: "The port the TaskManager listens on for calls, where that differs from taskmanager.rpc.port.",
	})
	TaskManagerDataPort = declare(integer, Option[int]{
		Key: "taskmanager.data.port", Default: 0, Effect: ProcessRestart, check: between(0, 65535),
		Doc: "The port at which records arrive from other processes; 0 = any free port. Each job's process has its own, so a fixed port serves one job at a time.",
	})
	TaskManagerDataBindPort = declare(ports, Option[[]PortRange]{
		Key: "taskmanager.data.bind-port", NoDefault: true, Effect: ProcessRestart,
		Doc: "The ports the data exchange may listen on, where they differ from taskmanager.data.port.",
	})
	TaskManagerNumberOfTaskSlots = declare(integer, Option[int]{
		Key: "taskmanager.numberOfTaskSlots", Default: 1, Effect: ProcessRestart, check: between(1, 32768),
		Doc: "How many slots a TaskManager offers: how many subtasks of one operator can run in it side by side.",
	})
	TaskManagerSortShuffleMinBuffers = declare(integer, Option[int]{
		Key: "taskmanager.network.sort-shuffle.min-buffers", Default: 512, Effect: ProcessRestart, check: between(1, 1<<20),
		Doc: "How many network buffers the output of a task of a batch stage gathers records in before it writes to disk. When network memory is short it makes do with fewer, but not with fewer than 16.",
	})
	TaskManagerResourceID = declare(text, Option[string]{
		Key: "taskmanager.resource-id", NoDefault: true, Effect: ProcessRestart,
		Doc: "The name of the TaskManager. Without it, address, port and a random part.",
	})
	TaskManagerRegistrationTimeout = declare(duration, Option[time.Duration]{
		Key: "taskmanager.registration.timeout", Default: 5 * time.Minute, Effect: ProcessRestart,
		OldKeys: []string{"taskmanager.maxRegistrationDuration"},
		Doc:     "How long a TaskManager tries to register before it ends itself.",
	})
	TaskManagerSlotTimeout = declare(duration, Option[time.Duration]{
		Key: "taskmanager.slot.timeout", Default: 10 * time.Second, Effect: ProcessRestart, check: positive,
		FallbackKeys: []string{"pekko.ask.timeout"},
		Doc:          "How long an allocated slot waits for its job to take it before it is free again.",
	})
	TaskManagerLoadBalanceMode = declare(choice[string]("NONE", "SLOTS", "TASKS", "MIN_RESOURCES"), Option[string]{
		Key: "taskmanager.load-balance.mode", Default: "NONE", Effect: ProcessRestart,
		Doc: "How slots are spread over TaskManagers: NONE takes them in the order in which the TaskManagers registered; SLOTS takes each from the one " +
			"that has the smallest share of its own in use; MIN_RESOURCES from the one that has the largest, so that few are used; TASKS as SLOTS, and " +
			"then gives each TaskManager about the same number of the job's tasks.",
	})
	TaskCancellationInterval = declare(duration, Option[time.Duration]{
		Key: "task.cancellation.interval", Default: 30 * time.Second, Effect: NextJob, check: positive,
		OldKeys: []string{"task.cancellation-interval"},
		Doc:     "How long to wait before a task that is being cancelled is asked again.",
		inert:   always[time.Duration]("a task is asked to end once, which it cannot miss; after task.cancellation.timeout its process is killed"),
	})
	TaskCancellationTimeout = declare(duration, Option[time.Duration]{
		Key: "task.cancellation.timeout", Default: 3 * time.Minute, Effect: ProcessRestart,
		Doc: "How long a task may take to end after it was cancelled; then its job's process is killed. Zero means for ever.",
	})
)
