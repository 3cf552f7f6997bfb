// Package filecatalog keeps catalogs in files that people can read: what databases, tables,
// views and functions there are, and, in a Store, what catalogs a session begins with.
//
//	DIR/database.yaml … of a catalog:
//	  shop/database.yaml
//	  shop/tables/orders.yaml         as it was made
//	  shop/tables/orders.3.yaml       as it is since it was changed three times
//	  shop/functions/mask.yaml
//	DIR/NAME.yaml of a store: a catalog's options
//
// Files are never changed (package fs): each change writes a new one with the next number.
// Of several, the one with the highest number counts; the one before it is kept, and older
// ones are removed.
//
// It promises that a reader sees a definition before a change or after it, whole; that of
// two processes which make or change the same at once one is told so; and that a file that
// cannot be read is an error that names it, and hides nothing else. It never reads a table.
package filecatalog
