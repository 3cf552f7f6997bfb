package config

// What outlives a JobManager.
var (
	HighAvailabilityType = declare(choice[string]("NONE", "filesystem"), Option[string]{
		Key: "high-availability.type", Default: "NONE", Effect: ProcessRestart,
		OldKeys: []string{"high-availability"},
		Doc:     "Whether the ids and the places of completed checkpoints are kept in files (filesystem), so that the next JobManager goes on with a job of the same id from its newest checkpoint. Jobs are not started again by themselves.",
	})
	HighAvailabilityStorageDir = declare(text, Option[string]{
		Key: "high-availability.storageDir", NoDefault: true, Effect: ProcessRestart, check: absolute,
		Doc: "The directory of what is kept for the next JobManager, a path or a URL. Each cluster has a directory in it.",
	})
	HighAvailabilityClusterID = declare(text, Option[string]{
		Key: "high-availability.cluster-id", Default: "/default", Effect: ProcessRestart,
		Doc: "The name of the cluster's directory in high-availability.storageDir.",
	})
)
