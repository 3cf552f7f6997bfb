// Package table is the Table and SQL API: a Go program makes tables, runs queries and
// INSERTs over them, and calls its own functions in them.
//
//	env := table.NewEnv()
//	defer env.Close()
//	env.Register(table.ScalarFunc("mask", func(card string) string { return "…" + card[len(card)-4:] }))
//	err := env.Execute(ctx, `CREATE TABLE payments (card STRING, amount DOUBLE)
//	    WITH ('connector' = 'filesystem', 'path' = 'payments.csv', 'format' = 'csv')`)
//	for p, err := range env.Query[payment](ctx, "SELECT mask(card) AS card, amount FROM payments") { … }
//
// Started by itself, the program runs its jobs within its own process. Started by
// `weir run`, it describes the job of its first INSERT, or statement set, to the cluster
// and ends; the workers of the job are started from the same program, so that its
// functions are there: in them, Execute serves the job at that statement and does not
// return. What the program does before it must therefore be the same each time.
//
// # Types
//
// The types of functions and of rows that are read are Go's:
//
//	bool, int8, int16, int32, int64 and int    BOOLEAN, TINYINT, SMALLINT, INT, BIGINT
//	float32, float64                           FLOAT, DOUBLE
//	string, []byte                             STRING, BYTES
//	time.Time                                  TIMESTAMP_LTZ(9); as a parameter any timestamp or date
//	time.Duration                              INTERVAL DAY TO SECOND; as a parameter TIME too
//	[]T, map[K]V                               ARRAY<T>, MAP<K, V>
//	struct                                     ROW: exported fields, in order
//	*T, sql.Null[T]                            T that may be NULL
//	any                                        as a parameter: whatever it is
//
// An argument is cast to what the parameter takes where nothing can be lost: INT to int64
// or float64, not BIGINT to int32. A TIMESTAMP is read as that time of day in UTC; a
// TIMESTAMP_LTZ is the instant, in the session's time zone (in aggregates in UTC). A field
// is the column of its name in lower case with underscores, UnitPrice is unit_price,
// unless a tag `sql:"name"` says otherwise; `sql:"-"` leaves it out.
//
// # Functions
//
// A function is given no NULL where its parameter has no value for one: of a scalar
// function the result is NULL then, a table function gives no rows, an aggregate leaves the
// row out. Functions are called from several goroutines at once. What they are given they
// may keep. An error or a panic fails the job, with the function's name, the line, the
// place in the statement and the record.
//
// It promises that the types of functions are looked at when they are registered, and that
// mistakes name the line of the program. It never runs anything before a statement asks
// for it.
package table
