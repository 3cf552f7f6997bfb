package gateway

import (
	"time"

	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// TaskFiguresToProto gives the message of a task's figures; nil stays nil.
func TaskFiguresToProto(f *status.TaskFigures) *pb.TaskFigures {
	if f == nil {
		return nil
	}
	m := &pb.TaskFigures{
		RecordsIn: countToProto(f.RecordsIn), RecordsOut: countToProto(f.RecordsOut),
		BytesIn: countToProto(f.BytesIn), BytesOut: countToProto(f.BytesOut),
		BatchesInLocal: countToProto(f.BatchesInLocal), BatchesInRemote: countToProto(f.BatchesInRemote), BatchesOut: countToProto(f.BatchesOut),
		Busy: shareToProto(f.Busy), Idle: shareToProto(f.Idle), Blocked: shareToProto(f.Blocked), BackPressured: f.BackPressured,
		InitializationNanos: int64(f.Initialization), HasInput: f.HasInput, InputWatermark: f.InputWatermark,
		Mail: countToProto(f.Mail), MailQueued: int32(f.MailQueued), MailLatency: distributionToProto(&f.MailLatency),
		InQueued: int32(f.InQueued), OutQueued: int32(f.OutQueued), InUse: f.InUse, OutUse: f.OutUse,
	}
	for i := range f.Operators {
		o := &f.Operators[i]
		m.Operators = append(m.Operators, &pb.OperatorFigures{
			Id: o.ID, Name: o.Name, Source: o.Source, RecordsIn: countToProto(o.RecordsIn), RecordsOut: countToProto(o.RecordsOut),
			InputWatermark: o.InputWatermark, OutputWatermark: o.OutputWatermark, SourceIdleNanos: int64(o.SourceIdle), DropsLate: o.DropsLate, Late: o.Late,
			EmitLagNanos: nanos(o.EmitLag), WatermarkLagNanos: nanos(o.WatermarkLag), Pending: o.Pending, DriftNanos: nanos(o.Drift), Sent: sentToProto(o.Sent), Unread: o.Unread,
		})
	}
	return m
}

// TaskFiguresFromProto gives the figures of a message; nil stays nil.
func TaskFiguresFromProto(m *pb.TaskFigures) *status.TaskFigures {
	if m == nil {
		return nil
	}
	f := &status.TaskFigures{
		RecordsIn: countFromProto(m.RecordsIn), RecordsOut: countFromProto(m.RecordsOut),
		BytesIn: countFromProto(m.BytesIn), BytesOut: countFromProto(m.BytesOut),
		BatchesInLocal: countFromProto(m.BatchesInLocal), BatchesInRemote: countFromProto(m.BatchesInRemote), BatchesOut: countFromProto(m.BatchesOut),
		Busy: shareFromProto(m.Busy), Idle: shareFromProto(m.Idle), Blocked: shareFromProto(m.Blocked), BackPressured: m.BackPressured,
		Initialization: time.Duration(m.InitializationNanos), HasInput: m.HasInput, InputWatermark: m.InputWatermark,
		Mail: countFromProto(m.Mail), MailQueued: int(m.MailQueued), MailLatency: distributionFromProto(m.MailLatency),
		InQueued: int(m.InQueued), OutQueued: int(m.OutQueued), InUse: m.InUse, OutUse: m.OutUse,
	}
	for _, o := range m.Operators {
		f.Operators = append(f.Operators, status.OperatorFigures{
			ID: o.Id, Name: o.Name, Source: o.Source, RecordsIn: countFromProto(o.RecordsIn), RecordsOut: countFromProto(o.RecordsOut),
			InputWatermark: o.InputWatermark, OutputWatermark: o.OutputWatermark, SourceIdle: time.Duration(o.SourceIdleNanos), DropsLate: o.DropsLate, Late: o.Late,
			EmitLag: duration(o.EmitLagNanos), WatermarkLag: duration(o.WatermarkLagNanos), Pending: o.Pending, Drift: duration(o.DriftNanos), Sent: sentFromProto(o.Sent), Unread: o.Unread,
		})
	}
	return f
}

func nanos(d *time.Duration) *int64 { return (*int64)(d) }

func duration(n *int64) *time.Duration { return (*time.Duration)(n) }

func sentToProto(s *status.SentFigures) *pb.SentFigures {
	if s == nil {
		return nil
	}
	return &pb.SentFigures{Records: s.Records, Bytes: s.Bytes, Errors: s.Errors, LastNanos: int64(s.Last)}
}

func sentFromProto(m *pb.SentFigures) *status.SentFigures {
	if m == nil {
		return nil
	}
	return &status.SentFigures{Records: m.Records, Bytes: m.Bytes, Errors: m.Errors, Last: time.Duration(m.LastNanos)}
}

func countToProto(c status.Count) *pb.Count {
	if c == (status.Count{}) {
		return nil
	}
	return &pb.Count{Total: c.Total, PerSecond: c.PerSecond}
}

func countFromProto(m *pb.Count) status.Count {
	return status.Count{Total: m.GetTotal(), PerSecond: m.GetPerSecond()}
}

func shareToProto(s status.Share) *pb.Share {
	if s == (status.Share{}) {
		return nil
	}
	return &pb.Share{TotalNanos: int64(s.Total), MillisPerSecond: s.MillisPerSecond}
}

func shareFromProto(m *pb.Share) status.Share {
	return status.Share{Total: time.Duration(m.GetTotalNanos()), MillisPerSecond: m.GetMillisPerSecond()}
}

func distributionToProto(d *status.Distribution) *pb.Distribution {
	if d.Values == 0 {
		return nil
	}
	return &pb.Distribution{Values: int32(d.Values), Min: d.Min, Max: d.Max, Mean: d.Mean, Deviation: d.Deviation,
		Quantiles: []float64{d.Median, d.P75, d.P90, d.P95, d.P98, d.P99, d.P999}}
}

// distributionFromProto gives nothing for a message that lacks a quantile.
func distributionFromProto(m *pb.Distribution) status.Distribution {
	q := m.GetQuantiles()
	if len(q) != 7 {
		return status.Distribution{}
	}
	return status.Distribution{Values: int(m.Values), Min: m.Min, Max: m.Max, Mean: m.Mean, Deviation: m.Deviation,
		Median: q[0], P75: q[1], P90: q[2], P95: q[3], P98: q[4], P99: q[5], P999: q[6]}
}

// ProcessFiguresToProto gives the message of a process's figures; nil stays nil.
func ProcessFiguresToProto(f *status.ProcessFigures) *pb.ProcessFigures {
	if f == nil {
		return nil
	}
	return &pb.ProcessFigures{
		HeapUsed: f.HeapUsed, HeapCommitted: f.HeapCommitted, HeapMax: f.HeapMax,
		NonHeapUsed: f.NonHeapUsed, NonHeapCommitted: f.NonHeapCommitted, NonHeapMax: f.NonHeapMax,
		Program: f.Program, ProgramMax: f.ProgramMax,
		BuffersTotal: f.BuffersTotal, BuffersReserved: f.BuffersReserved, BuffersTaken: f.BuffersTaken, BufferSize: f.BufferSize,
		ManagedUsed: f.ManagedUsed, ManagedTotal: f.ManagedTotal, CpuNanos: int64(f.CPU), CpuLoad: f.CPULoad,
		Goroutines: f.Goroutines, Threads: f.Threads, Collections: f.Collections, CollectionNanos: int64(f.CollectionTime),
		CollectionMillisPerSecond: f.CollectionMillisPerSecond, DescriptorsOpen: f.DescriptorsOpen, DescriptorsMax: f.DescriptorsMax,
	}
}

// ProcessFiguresFromProto gives the figures of a message; nil stays nil.
func ProcessFiguresFromProto(m *pb.ProcessFigures) *status.ProcessFigures {
	if m == nil {
		return nil
	}
	return &status.ProcessFigures{
		HeapUsed: m.HeapUsed, HeapCommitted: m.HeapCommitted, HeapMax: m.HeapMax,
		NonHeapUsed: m.NonHeapUsed, NonHeapCommitted: m.NonHeapCommitted, NonHeapMax: m.NonHeapMax,
		Program: m.Program, ProgramMax: m.ProgramMax,
		BuffersTotal: m.BuffersTotal, BuffersReserved: m.BuffersReserved, BuffersTaken: m.BuffersTaken, BufferSize: m.BufferSize,
		ManagedUsed: m.ManagedUsed, ManagedTotal: m.ManagedTotal, CPU: time.Duration(m.CpuNanos), CPULoad: m.CpuLoad,
		Goroutines: m.Goroutines, Threads: m.Threads, Collections: m.Collections, CollectionTime: time.Duration(m.CollectionNanos),
		CollectionMillisPerSecond: m.CollectionMillisPerSecond, DescriptorsOpen: m.DescriptorsOpen, DescriptorsMax: m.DescriptorsMax,
	}
}
