// Package catalog holds what names mean in a session: catalogs, the databases in
// them, and in those tables, views and functions; and the temporary ones, which only
// the session has and which hide others of their name.
//
// It promises that an object is never changed once it is in a catalog: it is
// replaced as a whole, so that whoever resolved a name goes on with what it saw. Names
// keep their case and are told apart by it. Errors name the object by its whole path. It
// never reads a table's data and never runs anything; a Manager and its catalogs
// belong to one session, which runs one statement at a time.
package catalog
