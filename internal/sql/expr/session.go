package expr

import "time"

// Session is what expressions may know of the session and the query they run in. It is
// never changed once made.
type Session struct {
	// Zone is table.local-time-zone.
	Zone *time.Location
	// Now is when the query began: CURRENT_TIMESTAMP and its like in every row.
	Now time.Time
	// LegacyCast is table.exec.legacy-cast-behaviour: CAST gives NULL where it fails, and
	// texts are neither cut nor padded.
	LegacyCast bool
	// Database is the current one.
	Database string
	// Streaming says that the query is not a batch.
	Streaming bool
}

// UTC is a session in UTC with nothing else said.
var UTC = &Session{Zone: time.UTC}
