// Package files is the coordinator of a file source: it finds the files that
// patterns name, packs them into splits and hands these to the readers that
// ask.
//
// It promises that the same files always make the same splits in the same
// order: paths are sorted, many small files share a split, a large file is cut
// into ranges; that each split is owned by the coordinator or by one subtask;
// and that a pattern which names no file, or a directory that cannot be read,
// fails the job with an error that says which. Files are listed beside the
// loop, through the List it is made with; it never opens one.
package files
