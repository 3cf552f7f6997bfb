package cluster

import (
	"slices"

	"github.com/weirstream/weir/internal/rpc/gateway"
)

// A Rarity is a named situation that a world must have met to be worth playing:
// it is where a distributed control plane goes wrong.
type Rarity struct {
	Name  string
	pairs []Pair // any of which is it
	met   string // or what the checkers count under this name
}

// Seen is how often a result met the situation.
func (y *Rarity) Seen(pairs map[Pair]int, met map[string]int) int {
	n := met[y.met]
	for _, p := range y.pairs {
		n += pairs[p]
	}
	return n
}

// Rarities lists them all.
func Rarities() []Rarity { return slices.Clone(rarities) }

var rarities = []Rarity{
	pairs("a task finishes while it is being canceled", Pair{"attempt CANCELING", "reported FINISHED"}),
	pairs("a task fails while it is being canceled", Pair{"attempt CANCELING", "reported FAILED"}),
	pairs("a task starts to run while it is being canceled", Pair{"attempt CANCELING", "reported RUNNING"}),
	pairs("a task's end is reported twice", Pair{"attempt FINISHED", "reported FINISHED"}, Pair{"attempt CANCELED", "reported CANCELED"}, Pair{"attempt FAILED", "reported FAILED"}),
	pairs("an attempt that has failed here reports that it runs", Pair{"attempt FAILED", "reported RUNNING"}, Pair{"attempt FAILED", "reported INITIALIZING"}),
	pairs("an attempt reports after its successor was made", Pair{"attempt replaced", "reported RUNNING"}, Pair{"attempt replaced", "reported INITIALIZING"},
		Pair{"attempt replaced", "reported FAILED"}, Pair{"attempt replaced", "reported CANCELED"}, Pair{"attempt replaced", "reported FINISHED"}),
	pairs("a report for a JobMaster of another term", Pair{"JobMaster of another term", gateway.UpdateTaskExecutionState.Name}),
	pairs("slots are offered to a job that restarts", Pair{"job RESTARTING", gateway.OfferSlots.Name}),
	pairs("slots are offered to a job that is being canceled", Pair{"job CANCELLING", gateway.OfferSlots.Name}),
	pairs("slots are offered to a job that is failing", Pair{"job FAILING", gateway.OfferSlots.Name}),
	pairs("a TaskManager registers while the job restarts", Pair{"job RESTARTING", gateway.RegisterTaskManager.Name}),
	pairs("a TaskManager registers while the job is being canceled", Pair{"job CANCELLING", gateway.RegisterTaskManager.Name}),
	pairs("a job that restarts hears that there are not enough slots", Pair{"job RESTARTING", gateway.NotifyNotEnoughResources.Name}),
	pairs("a JobMaster is told that its slot is not there", Pair{"job RUNNING", gateway.FailSlot.Name}, Pair{"job RESTARTING", gateway.FailSlot.Name}),
	pairs("a slot is requested by a ResourceManager of another term", Pair{"registered elsewhere", gateway.RequestSlot.Name}),
	pairs("a slot is requested that another allocation holds", Pair{"slot of another allocation, ALLOCATED", gateway.RequestSlot.Name},
		Pair{"slot of another allocation, ACTIVE", gateway.RequestSlot.Name}),
	pairs("a slot is freed that is free", Pair{"slot absent", gateway.FreeSlot.Name}),
	pairs("a slot is freed with tasks in it", Pair{"slot ACTIVE with tasks", gateway.FreeSlot.Name}),
	pairs("a task comes for a slot that is gone", Pair{"slot absent", gateway.SubmitTask.Name}),
	pairs("a task comes for a slot whose offer is not answered", Pair{"slot ALLOCATED", gateway.SubmitTask.Name}),
	pairs("a task comes while the JobMaster counts as lost", Pair{"connection lost", gateway.SubmitTask.Name}),
	pairs("a heartbeat of a JobMaster that has been succeeded", Pair{"connection to another JobMaster", gateway.HeartbeatFromJobMaster.Name}),
	pairs("a heartbeat of a JobMaster that counts as lost", Pair{"connection lost", gateway.HeartbeatFromJobMaster.Name}),
	pairs("a declaration for a ResourceManager of another term", Pair{"ResourceManager of another term", gateway.DeclareRequiredResources.Name}),
	pairs("a freed slot that is believed free", Pair{"slot believed free", gateway.NotifySlotAvailable.Name}),
	pairs("a freed slot whose request is not answered", Pair{"slot believed pending", gateway.NotifySlotAvailable.Name}),
	pairs("a freed slot of a TaskManager that has registered again", Pair{"instance unknown", gateway.NotifySlotAvailable.Name}),
	pairs("an attempt that has been canceled reports that it runs", Pair{"attempt CANCELED", "reported RUNNING"}, Pair{"attempt CANCELED", "reported INITIALIZING"}),
	pairs("an attempt that has been canceled reports that it has finished", Pair{"attempt CANCELED", "reported FINISHED"}),
	pairs("an attempt that has failed here reports that it has finished", Pair{"attempt FAILED", "reported FINISHED"}),
	pairs("a task fails before it begins to initialize", Pair{"attempt DEPLOYING", "reported FAILED"}),
	pairs("an attempt of an earlier JobMaster reports to the next", Pair{"attempt of another graph", "reported RUNNING"}, Pair{"attempt of another graph", "reported INITIALIZING"},
		Pair{"attempt of another graph", "reported FAILED"}, Pair{"attempt of another graph", "reported CANCELED"}, Pair{"attempt of another graph", "reported FINISHED"}),
	pairs("slots are offered to a job that has ended", Pair{"job FAILED", gateway.OfferSlots.Name}, Pair{"job CANCELED", gateway.OfferSlots.Name}, Pair{"job FINISHED", gateway.OfferSlots.Name}),
	pairs("a TaskManager registers at a job that has ended", Pair{"job FAILED", gateway.RegisterTaskManager.Name}, Pair{"job CANCELED", gateway.RegisterTaskManager.Name},
		Pair{"job FINISHED", gateway.RegisterTaskManager.Name}),
	pairs("a job that is failing hears that there are not enough slots", Pair{"job FAILING", gateway.NotifyNotEnoughResources.Name}),
	pairs("a job that is failing or being canceled is told that its slot is not there", Pair{"job FAILING", gateway.FailSlot.Name}, Pair{"job CANCELLING", gateway.FailSlot.Name}),
	pairs("a task comes of a JobMaster that has been succeeded", Pair{"connection to another JobMaster", gateway.SubmitTask.Name}),
	pairs("the goodbye of a JobMaster that has been succeeded", Pair{"connection to another JobMaster", gateway.DisconnectJobManager.Name}),
	pairs("the goodbye of a JobMaster to a ResourceManager of another term", Pair{"ResourceManager of another term", gateway.DisconnectJobMaster.Name}),
	pairs("a slot is freed whose offer is not answered", Pair{"slot ALLOCATED", gateway.FreeSlot.Name}, Pair{"slot ALLOCATED with tasks", gateway.FreeSlot.Name}),
	pairs("a freed slot that is believed another allocation's", Pair{"slot believed another's", gateway.NotifySlotAvailable.Name}),
	pairs("a lost output whose task was taken to run", Pair{"attempt RUNNING", gateway.OutputsLost.Name}, Pair{"attempt INITIALIZING", gateway.OutputsLost.Name}, Pair{"attempt DEPLOYING", gateway.OutputsLost.Name}),
	pairs("outputs are lost while the job restarts", Pair{"job RESTARTING", gateway.OutputsLost.Name}),
	counted("a task fails while the job restarts for another", "second failure while restarting"),
	counted("a JobMaster lists a slot that is not there", "JobMaster lists a slot that is not there"),
	counted("an active slot that the JobMaster does not list", "active slot that the JobMaster does not list"),
	counted("tasks of an older JobMaster run when the next is known", "tasks of an older JobMaster"),
	counted("a job is submitted to the next master", "jobs at their next master"),
	counted("a job is canceled while it restarts", "canceled while RESTARTING"),
	counted("a job is canceled while it is failing", "canceled while FAILING"),
	counted("lost output is produced again", "lost outputs that were produced again"),
	counted("a cause is found after what followed from it", "causes found after what followed"),
	struck(triggered), struck(parting), struck(beforeMetadata), struck(afterMetadata), struck(beforeStored), struck(afterStored), struck(notified),
	struck(committed), struck(restoring),
	counted("a job goes on at the next master with its checkpoints", "jobs that went on at the next master"),
	counted("a checkpoint waits for an answer that was given before it", "checkpoints that waited for an answer"),
	counted("a transaction is committed again after a restore", "transactions committed again"),
	counted("an older checkpoint is restored, since a newer one is torn", "older checkpoints restored"),
	counted("a task ends while its part of a checkpoint is written", "parts of tasks that had ended"),
	counted("a part of a checkpoint cannot be written", "parts declined: CHECKPOINT_ASYNC_EXCEPTION"),
	counted("the barrier of a newer checkpoint comes before the rest of an older one's", "parts declined: CHECKPOINT_DECLINED_SUBSUMED"),
	counted("a file is left of which no master was told", "files that nobody was told of"),
}

// struck is that somebody was killed at a point in the life of a checkpoint.
func struck(at point) Rarity { return counted("somebody is killed "+string(at), "killed "+string(at)) }

func pairs(name string, any ...Pair) Rarity { return Rarity{Name: name, pairs: any} }

func counted(name, met string) Rarity { return Rarity{Name: name, met: met} }
