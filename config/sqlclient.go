package config

// The SQL client. Its statements see these, too, as settings of the session.
var (
	SQLClientResultMode = declare(text, Option[string]{
		Key: "sql-client.execution.result-mode", Default: "TABLE", Effect: Now,
		Doc: "How the SQL client shows the rows of a query: TABLE and CHANGELOG fill the terminal and follow the rows as they come, TABLEAU prints them. Where there is no terminal, and this is not set, it is TABLEAU.",
	})
	SQLClientMaxTableResultRows = declare(integer, Option[int]{
		Key: "sql-client.execution.max-table-result.rows", Default: 1_000_000, Effect: Now, check: atLeast(1),
		Doc: "How many rows the SQL client keeps to look at; beyond that the oldest go.",
	})
	SQLClientVerbose = declare(boolean, Option[bool]{
		Key: "sql-client.verbose", Default: false, Effect: Now,
		Doc: "Whether the SQL client shows all causes of an error, and not the last one only.",
	})
	SQLClientPrintTimeCost = declare(boolean, Option[bool]{
		Key: "sql-client.display.print-time-cost", Default: true, Effect: Now,
		Doc: "Whether the SQL client says how long a query has taken.",
	})
)
