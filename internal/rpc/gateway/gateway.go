// Package gateway lists what each endpoint of the control plane can be asked:
// the methods by name, with their messages.
//
// It promises that caller and callee of a method agree on its types. It never
// holds behaviour.
package gateway

import (
	"github.com/weirstream/weir/internal/ident"
	"github.com/weirstream/weir/internal/rpc"
	"github.com/weirstream/weir/internal/rpc/pb"
)

// The names of the endpoints that a process serves once.
const (
	ResourceManager = "resourcemanager"
	TaskExecutor    = "taskexecutor"
	Worker          = "worker"
	Blob            = "blob"
)

// TaskExecutorOf is the endpoint name of one TaskExecutor, under which its masters
// reach it. Its name says who is meant: another TaskExecutor that was started at
// the same address must not answer for one that is gone. A worker, which was
// started by it, calls it TaskExecutor.
func TaskExecutorOf(id ident.ResourceID) string { return TaskExecutor + "_" + string(id) }

// JobMaster is the endpoint name of a job's master.
func JobMaster(job ident.JobID) string { return "jobmanager_" + job.String() }

// Asked of the ResourceManager, fenced by its term except for registrations.
var (
	RegisterTaskExecutor     = rpc.Method[*pb.RegisterTaskExecutorRequest, *pb.RegisterTaskExecutorResponse]{Name: "ResourceManager/RegisterTaskExecutor"}
	SendSlotReport           = rpc.Method[*pb.SendSlotReportRequest, *pb.Empty]{Name: "ResourceManager/SendSlotReport"}
	NotifySlotAvailable      = rpc.Method[*pb.NotifySlotAvailableRequest, *pb.Empty]{Name: "ResourceManager/NotifySlotAvailable"}
	DisconnectTaskExecutor   = rpc.Method[*pb.DisconnectTaskExecutorRequest, *pb.Empty]{Name: "ResourceManager/DisconnectTaskExecutor"}
	RegisterJobMaster        = rpc.Method[*pb.RegisterJobMasterRequest, *pb.RegisterJobMasterResponse]{Name: "ResourceManager/RegisterJobMaster"}
	DeclareRequiredResources = rpc.Method[*pb.DeclareRequiredResourcesRequest, *pb.Empty]{Name: "ResourceManager/DeclareRequiredResources"}
	DisconnectJobMaster      = rpc.Method[*pb.DisconnectJobMasterRequest, *pb.Empty]{Name: "ResourceManager/DisconnectJobMaster"}
)

// Asked of a TaskExecutor, which checks the caller's term itself: the messages
// carry the ResourceManager's or JobMaster's id.
var (
	RequestSlot                  = rpc.Method[*pb.RequestSlotRequest, *pb.Empty]{Name: "TaskExecutor/RequestSlot"}
	FreeSlot                     = rpc.Method[*pb.FreeSlotRequest, *pb.Empty]{Name: "TaskExecutor/FreeSlot"}
	SubmitTask                   = rpc.Method[*pb.SubmitTaskRequest, *pb.Empty]{Name: "TaskExecutor/SubmitTask"}
	CancelTask                   = rpc.Method[*pb.CancelTaskRequest, *pb.Empty]{Name: "TaskExecutor/CancelTask"}
	TriggerCheckpoint            = rpc.Method[*pb.TriggerCheckpointRequest, *pb.Empty]{Name: "TaskExecutor/TriggerCheckpoint"}
	NotifyCheckpoint             = rpc.Method[*pb.NotifyCheckpointRequest, *pb.Empty]{Name: "TaskExecutor/NotifyCheckpoint"}
	ReleaseOutputs               = rpc.Method[*pb.ReleaseOutputsRequest, *pb.Empty]{Name: "TaskExecutor/ReleaseOutputs"}
	DisconnectJobManager         = rpc.Method[*pb.DisconnectJobManagerRequest, *pb.Empty]{Name: "TaskExecutor/DisconnectJobManager"}
	HeartbeatFromResourceManager = rpc.Method[*pb.HeartbeatFromResourceManagerRequest, *pb.TaskExecutorHeartbeat]{Name: "TaskExecutor/HeartbeatFromResourceManager"}
	HeartbeatFromJobMaster       = rpc.Method[*pb.HeartbeatFromJobMasterRequest, *pb.JobHeartbeat]{Name: "TaskExecutor/HeartbeatFromJobMaster"}
)

// Asked of a JobMaster, fenced by its JobMasterId.
var (
	RegisterTaskManager      = rpc.Method[*pb.RegisterTaskManagerRequest, *pb.RegisterTaskManagerResponse]{Name: "JobMaster/RegisterTaskManager"}
	OfferSlots               = rpc.Method[*pb.OfferSlotsRequest, *pb.OfferSlotsResponse]{Name: "JobMaster/OfferSlots"}
	FailSlot                 = rpc.Method[*pb.FailSlotRequest, *pb.Empty]{Name: "JobMaster/FailSlot"}
	UpdateTaskExecutionState = rpc.Method[*pb.UpdateTaskExecutionStateRequest, *pb.UpdateTaskExecutionStateResponse]{Name: "JobMaster/UpdateTaskExecutionState"}
	ReportTaskMetrics        = rpc.Method[*pb.ReportTaskMetricsRequest, *pb.Empty]{Name: "JobMaster/ReportTaskMetrics"}
	OutputsLost              = rpc.Method[*pb.OutputsLostRequest, *pb.Empty]{Name: "JobMaster/OutputsLost"}
	NotifyNotEnoughResources = rpc.Method[*pb.NotEnoughResourcesRequest, *pb.Empty]{Name: "JobMaster/NotifyNotEnoughResources"}
	HeartbeatToJobMaster     = rpc.Method[*pb.HeartbeatFromResourceManagerRequest, *pb.Empty]{Name: "JobMaster/Heartbeat"}
	RequestOperator          = rpc.Method[*pb.OperatorRequest, *pb.OperatorResponse]{Name: "JobMaster/RequestOperator"}
	AcknowledgeCheckpoint    = rpc.Method[*pb.AcknowledgeCheckpointRequest, *pb.Empty]{Name: "JobMaster/AcknowledgeCheckpoint"}
	DeclineCheckpoint        = rpc.Method[*pb.DeclineCheckpointRequest, *pb.Empty]{Name: "JobMaster/DeclineCheckpoint"}
)

// Asked of a job's worker by its TaskExecutor.
var (
	RunTask  = rpc.Method[*pb.TaskDeployment, *pb.Empty]{Name: "Worker/RunTask"}
	StopTask = rpc.Method[*pb.CancelTaskRequest, *pb.Empty]{Name: "Worker/StopTask"}
	// TriggerTasks and NotifyTasks are a TaskExecutor's TriggerCheckpoint and
	// NotifyCheckpoint, passed on.
	TriggerTasks = rpc.Method[*pb.TriggerCheckpointRequest, *pb.Empty]{Name: "Worker/TriggerCheckpoint"}
	NotifyTasks  = rpc.Method[*pb.NotifyCheckpointRequest, *pb.Empty]{Name: "Worker/NotifyCheckpoint"}
	// ReleaseWorkerOutputs is a TaskExecutor's ReleaseOutputs, passed on.
	ReleaseWorkerOutputs = rpc.Method[*pb.ReleaseOutputsRequest, *pb.Empty]{Name: "Worker/ReleaseOutputs"}
	ShutDown             = rpc.Method[*pb.Empty, *pb.Empty]{Name: "Worker/ShutDown"}
	// SetBudget says what the worker may use from now on.
	SetBudget = rpc.Method[*pb.WorkerBudget, *pb.WorkerBudgetResponse]{Name: "Worker/SetBudget"}
	// HeartbeatToWorker is answered as long as the worker's loop runs, whatever
	// its tasks do.
	HeartbeatToWorker = rpc.Method[*pb.Empty, *pb.Empty]{Name: "Worker/Heartbeat"}
)

// Asked of a TaskExecutor by a worker it started. State reports, metrics and
// operator requests of a worker use the JobMaster's messages; the TaskExecutor
// passes them on.
var (
	RegisterWorker    = rpc.Method[*pb.RegisterWorkerRequest, *pb.RegisterWorkerResponse]{Name: "TaskExecutor/RegisterWorker"}
	WorkerTaskState   = rpc.Method[*pb.UpdateTaskExecutionStateRequest, *pb.Empty]{Name: "TaskExecutor/WorkerTaskState"}
	WorkerTaskMetrics = rpc.Method[*pb.ReportTaskMetricsRequest, *pb.Empty]{Name: "TaskExecutor/WorkerTaskMetrics"}
	WorkerRequest     = rpc.Method[*pb.OperatorRequest, *pb.OperatorResponse]{Name: "TaskExecutor/WorkerRequest"}
	WorkerAcknowledge = rpc.Method[*pb.AcknowledgeCheckpointRequest, *pb.Empty]{Name: "TaskExecutor/AcknowledgeCheckpoint"}
	WorkerDecline     = rpc.Method[*pb.DeclineCheckpointRequest, *pb.Empty]{Name: "TaskExecutor/DeclineCheckpoint"}
)

// Asked of the blob server.
var ReadBlob = rpc.Method[*pb.ReadBlobRequest, *pb.ReadBlobResponse]{Name: "Blob/Read"}
