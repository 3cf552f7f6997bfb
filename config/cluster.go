package config

import (
	"errors"
	"time"
)

// How processes of a cluster find each other and notice that one is gone.
var (
	ClusterID = declare(text, Option[string]{
		Key: "cluster.id", Default: "00000000000000000000000000000000", Effect: ProcessRestart,
		Doc: "The name of the cluster. A TaskManager of another cluster is turned away.",
	})
	HeartbeatInterval = declare(duration, Option[time.Duration]{
		Key: "heartbeat.interval", Default: 10 * time.Second, Effect: ProcessRestart, check: positive,
		Doc: "The time between two heartbeats.",
	})
	HeartbeatTimeout = declare(duration, Option[time.Duration]{
		Key: "heartbeat.timeout", Default: 50 * time.Second, Effect: ProcessRestart, check: positive,
		Doc: "How long a process may be silent before it counts as lost.",
	})
	HeartbeatRPCFailureThreshold = declare(integer, Option[int]{
		Key: "heartbeat.rpc-failure-threshold", Default: 2, Effect: ProcessRestart, check: failureThreshold,
		Doc: "How many heartbeats in a row must be undeliverable for a process to count as lost; -1 turns this off.",
	})
	RegistrationInitialTimeout = declare(duration, Option[time.Duration]{
		Key: "cluster.registration.initial-timeout", Default: 100 * time.Millisecond, Effect: ProcessRestart, check: positive,
		Doc: "How long the first attempt to register may take. Later attempts double it.",
	})
	RegistrationMaxTimeout = declare(duration, Option[time.Duration]{
		Key: "cluster.registration.max-timeout", Default: 30 * time.Second, Effect: ProcessRestart, check: positive,
		Doc: "How long any attempt to register may take.",
	})
	RegistrationErrorDelay = declare(duration, Option[time.Duration]{
		Key: "cluster.registration.error-delay", Default: 10 * time.Second, Effect: ProcessRestart, check: positive,
		Doc: "How long to wait at most after an attempt to register failed. The first pauses are shorter: they grow from 10 ms.",
	})
	RegistrationRefusedDelay = declare(duration, Option[time.Duration]{
		Key: "cluster.registration.refused-registration-delay", Default: 30 * time.Second, Effect: ProcessRestart, check: positive,
		Doc: "How long to wait after an attempt to register was refused. A TaskManager of another cluster or version does not wait: it ends and says why.",
	})
	ClusterServicesShutdownTimeout = declare(duration, Option[time.Duration]{
		Key: "cluster.services.shutdown-timeout", Default: 30 * time.Second, Effect: ProcessRestart,
		Doc: "How long a process may take to end cleanly.",
	})
)

// How slots are asked for, kept and given back.
var (
	SlotRequestTimeout = declare(duration, Option[time.Duration]{
		Key: "slot.request.timeout", Default: 5 * time.Minute, Effect: ProcessRestart, check: positive,
		Doc: "How long a job waits for slots before it fails.",
	})
	SlotIdleTimeout = declare(duration, Option[time.Duration]{
		Key: "slot.idle.timeout", Default: 50 * time.Second, Effect: ProcessRestart, check: positive,
		Doc: "How long a job keeps a slot it does not use, and whose TaskManager holds nothing that other tasks of it still read.",
	})
	SlotRequestMaxInterval = declare(duration, Option[time.Duration]{
		Key: "slot.request.max-interval", Default: 20 * time.Millisecond, Effect: NextJob,
		Doc:   "How long requests for slots are gathered before they are sent.",
		inert: always[time.Duration]("requests for slots are sent at once"),
	})
	SlotManagerMaxSlots = declare(integer, Option[int]{
		Key: "slotmanager.number-of-slots.max", Default: 2147483647, Effect: ProcessRestart, check: atLeast(1),
		Doc:   "How many slots the cluster may have.",
		inert: always[int]("a standalone cluster has the TaskManagers that were started, neither more nor fewer"),
	})
	StandaloneStartUpTime = declare(duration, Option[time.Duration]{
		Key: "resourcemanager.standalone.start-up-time", Default: 5 * time.Minute, Effect: ProcessRestart,
		FallbackKeys: []string{"slot.request.timeout"},
		Doc:          "How long after its start the JobManager expects more TaskManagers to come, and fails no job for want of slots.",
	})
	ResourceManagerTaskManagerTimeout = declare(duration, Option[time.Duration]{
		Key: "resourcemanager.taskmanager-timeout", Default: 30 * time.Second, Effect: ProcessRestart,
		OldKeys: []string{"slotmanager.taskmanager-timeout"},
		Doc:     "How long a TaskManager may be idle before it is let go.",
		inert:   always[time.Duration]("TaskManagers of a standalone cluster stay until they are stopped"),
	})
	ResourceManagerRegistrationTimeout = declare(duration, Option[time.Duration]{
		Key: "resourcemanager.taskmanager-registration.timeout", Default: 5 * time.Minute, Effect: ProcessRestart,
		FallbackKeys: []string{"taskmanager.registration.timeout"},
		Doc:          "How long a TaskManager that was asked for may take to register.",
		inert:        always[time.Duration]("a standalone cluster asks for no TaskManagers"),
	})
	ResourceManagerJobTimeout = declare(duration, Option[time.Duration]{
		Key: "resourcemanager.job.timeout", Default: 5 * time.Minute, Effect: ProcessRestart, check: positive,
		Doc: "How long a job may be without a leader before its slots are freed.",
	})
)

func failureThreshold(n int) error {
	if n < -1 || n == 0 {
		return errors.New("must be at least 1, or -1 for none")
	}
	return nil
}

// keyGroups allows what may be a number of key groups.
func keyGroups(n int) error {
	if n < 1 || n > 32768 {
		return errors.New("must be from 1 to 32768")
	}
	return nil
}

func maxParallelism(n int) error {
	if n != -1 && (n < 1 || n > 32768) {
		return errors.New("must be from 1 to 32768, or -1 to derive it")
	}
	return nil
}
