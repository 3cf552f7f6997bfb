package config

import "time"

// SQL sessions. SET changes these for what a session does from then on.
var (
	TableLocalTimeZone = declare(text, Option[string]{
		Key: "table.local-time-zone", Default: "default", Effect: Now,
		Doc: "The time zone of an SQL session, such as Europe/Oslo or UTC: in it TIMESTAMP_LTZ is shown and CURRENT_DATE is taken. default is that of the process.",
	})
	TableDMLSync = declare(boolean, Option[bool]{
		Key: "table.dml-sync", Default: false, Effect: Now,
		Doc: "Whether an INSERT of SQL ends when its job has, and not when the job has been submitted.",
	})
	TableReuseSubPlan = declare(boolean, Option[bool]{
		Key: "table.optimizer.reuse-sub-plan-enabled", Default: true, Effect: Now,
		Doc: "Whether a batch query computes once what it needs more than once.",
	})
	TableBroadcastThreshold = declare(long, Option[int64]{
		Key: "table.optimizer.join.broadcast-threshold", Default: 64 << 20, Effect: Now,
		Doc: "How many bytes of rows a join of a batch query may bring to all subtasks, if these are few beside the other side's; -1: none. Flink's default is 1 MB, because there every row of the other side costs more.",
	})
	TableReuseSource = declare(boolean, Option[bool]{
		Key: "table.optimizer.reuse-source-enabled", Default: true, Effect: Now,
		Doc: "Whether a table that a batch query reads more than once is read once, with all columns that are wanted. It has a meaning only with table.optimizer.reuse-sub-plan-enabled.",
	})
	MaterializedFreshnessThreshold = declare(duration, Option[time.Duration]{
		Key: "materialized-table.refresh-mode.freshness-threshold", Default: 30 * time.Minute, Effect: Now, check: positive,
		Doc: "A materialized table whose rows may be older than this is written anew time after time (FULL); another is filled by a stream (CONTINUOUS). A statement can say which.",
	})
	MaterializedContinuousFreshness = declare(duration, Option[time.Duration]{
		Key: "materialized-table.default-freshness.continuous", Default: 3 * time.Minute, Effect: Now, check: positive,
		Doc: "How old the rows of a materialized table may be that is filled by a stream, where its statement does not say.",
	})
	MaterializedFullFreshness = declare(duration, Option[time.Duration]{
		Key: "materialized-table.default-freshness.full", Default: time.Hour, Effect: Now, check: positive,
		Doc: "How old the rows of a materialized table may be that is written anew, where its statement does not say.",
	})
	TableCatalogStoreKind = declare(choice[string]("generic_in_memory", "file"), Option[string]{
		Key: "table.catalog-store.kind", Default: "generic_in_memory", Effect: Now,
		Doc: "Where an SQL session keeps what CREATE CATALOG makes: in memory, until it ends, or in files, with which other sessions begin. It is looked at when a session begins.",
	})
	TableCatalogStorePath = declare(text, Option[string]{
		Key: "table.catalog-store.file.path", NoDefault: true, Effect: Now,
		Doc: "The directory of the definitions of catalogs, one file for each, if table.catalog-store.kind is file.",
	})
	TablePlanForceRecompile = declare(boolean, Option[bool]{
		Key: "table.plan.force-recompile", Default: false, Effect: Now,
		Doc: "Whether COMPILE PLAN replaces the file of a plan that is there.",
	})
	TableNotNullEnforcer = declare(choice[string]("ERROR", "DROP"), Option[string]{
		Key: "table.exec.sink.not-null-enforcer", Default: "ERROR", Effect: Now,
		Doc: "What SQL does with NULL for a column that is NOT NULL when a table is written: ERROR fails the job, DROP leaves out the row.",
	})
	TableLegacyCast = declare(choice[string]("ENABLED", "DISABLED"), Option[string]{
		Key: "table.exec.legacy-cast-behaviour", Default: "DISABLED", Effect: Now,
		Doc: "Whether CAST of SQL gives NULL where it cannot convert a value, and does not fail.",
	})
	BatchBeyondFlink = declare(boolean, Option[bool]{
		Key: "weir.sql.batch-beyond-flink", Default: false, Effect: Now,
		Doc: "Whether SQL computes in batch mode what Flink computes as a stream only: session windows, and DISTINCT aggregates with OVER.",
	})
	TableMaxColumnWidth = declare(integer, Option[int]{
		Key: "table.display.max-column-width", Default: 30, Effect: Now, check: atLeast(4),
		OldKeys: []string{"sql-client.display.max-column-width"},
		Doc:     "How wide a column of text is at most that the SQL client prints of a query whose rows are not all there when it is printed.",
	})
)
