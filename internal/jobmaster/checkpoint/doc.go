// Package checkpoint decides when a job's state is saved, when a checkpoint is
// complete, which ones are kept, and from which one tasks begin again.
//
// It is pure: Apply(event, now) changes the Coordinator and returns what must now
// be done; Deadline says when it wants a Tick. The way of a checkpoint:
//
//	Request, or a Tick when one is due ─▶ waits in the queue
//	  │ none is being triggered, fewer than MaxConcurrent are pending, and the
//	  │ tasks it needs run
//	  ▼
//	triggering: DrawID ─IDDrawn▶ Locate ─Located▶ SnapshotCoordinators
//	  │ all CoordinatorSnapshot                 ┐
//	  ▼                                         │ Decline, a task fails, the timeout, Restart,
//	waiting: TriggerTasks ─ Ack of every task   │ the job stops, a newer one completes
//	  ▼                                         ├──▶ aborted: NotifyAborted, Discard
//	writing: WriteMetadata ─MetadataWritten     ┘
//	  ▼
//	storing: Store ─Stored   from here on it is not aborted: it may be in the store
//	  ▼
//	completed: NotifyComplete; those over Retained and older pending ones go
//
// What the owner is asked to do outside (DrawID, Locate, SnapshotCoordinators,
// WriteMetadata, Store, Discard, ReadMetadata) it answers once each, with the
// event of the same name, in any order and however late. Quiet says that no
// answer is due.
//
// It promises: an id is used once and rises; a checkpoint completes with one
// acknowledgement of every task of its plan; no file that a retained checkpoint
// or one under way refers to is given to Discard, and every other file is, once;
// a restore takes the newest completed checkpoint, whose id is at least that of
// any completion that was notified, unless its files are damaged, which is
// reported; and a job that had a checkpoint never begins empty. A savepoint that
// only looks (Savepoint) is not restored from, deletes nothing and commits
// nothing; one that stops the job (SyncSavepoint) commits, and is restored from
// if the job fails while it stops.
package checkpoint
