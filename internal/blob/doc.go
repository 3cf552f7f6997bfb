// Package blob keeps artifacts, such as the binary of a job, under the SHA-256
// of their bytes, and carries them from the process that has them to those that
// need them.
//
// It promises that a blob that can be opened under a hash is complete and was
// durable before it got its name; that a blob is fetched once however many ask
// for it; and that a failed transfer leaves nothing behind. It never renames,
// changes or expires a blob: who put it decides when to delete it.
//
// A Store is a directory. Serve answers for a Store on the network, in chunks;
// a Fetcher asks for them and fills another Store.
package blob
