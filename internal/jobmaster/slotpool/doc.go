// Package slotpool holds the slots of one job: what the job wants, what
// TaskManagers have offered, and who uses which.
//
// It is pure: Apply(event, now) changes the pool and returns what must now be
// done. The pool asks nobody for a slot: it declares how many the job needs in
// all, and takes what is then offered.
//
//	Want ─▶ free slot? ─yes─▶ Grant
//	             └─no──▶ pending, Declare(pending + granted)
//	Offer ─▶ has it, or wants one? ─yes─▶ accepted, then Grant the pending ones
//	             └─no──▶ rejected
//	Release ─▶ free, Declare ─▶ pending? Grant : after the idle time Free
//
// It promises that each declaration is the whole requirement, pending plus
// granted; that an offer made twice is answered twice in the same way; that a slot given back is never taken again; and that
// all matches of one event are made before the first is granted. In a batch, whose tasks wait
// for the slots of others, a bulk gets its slots all at once, and slots that are too few go back
// soon. All slots are alike: a job's requirement is a number of slots of the default profile.
package slotpool
