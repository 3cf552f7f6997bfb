// Package spill writes batches to disk and reads them back, clustered by
// subpartition: the blocking partitions of batch jobs, and what operators
// cannot hold in memory.
//
// It promises that a subpartition is read in the order in which it was written,
// as often as wanted, that memory stays within what it was given however much
// is written, that damage of a file is found before a byte of it is used, and
// that a file's space is given back when its partition fails or is released. It
// never looks into a batch, and it never survives its process.
//
// # One file
//
// Encoded batches are blocks. They are gathered in a buffer; a full buffer is
// sorted by subpartition and appended as a region, followed by its index, which
// says where each subpartition begins in it. Neighbouring subpartitions are
// neighbours in every region, so a range of them is read like one.
//
//	region 0                          region 1
//	│ sub 0 │ sub 1   │ … │ index │ │ sub 0   │ sub 1 │ … │ index │ …
//	   │
//	   ╰─ blocks: │ length records sub checksum │ bytes │ …
//
// Where the regions' indexes begin is kept in memory, eight bytes each, and
// how much each subpartition has. Every block and every entry of an index has a
// checksum (CRC-32C) over itself and over whose it is.
//
// The obvious ways are a file for each subpartition, which makes a thousand
// consumers a thousand files and a disk seek each few kilobytes, or one index
// in memory, which grows with the data.
//
// # Who reads
//
//	task ─Poll─▶ view ─wants─▶ scheduler ─ReadAt─▶ file
//	      ◀──────────── blocks ──────╯
//
// Views of all partitions share one scheduler. It serves a file's views in the
// order of what they want in it, so that many consumers of one partition read
// it from its beginning to its end together. It keeps a bounded amount of
// buffers ahead of the consumers; a view that has nothing is always served, or
// two of them could wait for each other.
//
// Watermarks before the end are not kept: whoever reads a blocking partition
// has all of it before him, and the last one says everything. Barriers are
// refused.
package spill
