package gateway

import (
	"github.com/weirstream/weir/internal/rpc/pb"
	"github.com/weirstream/weir/internal/status"
)

// FailureToProto gives the message of a failure; nil stays nil.
func FailureToProto(f *status.Failure) *pb.Failure {
	if f == nil {
		return nil
	}
	m := &pb.Failure{Message: f.Message, Stack: f.Stack, Kind: string(f.Kind), ExitCode: int32(f.Exit), Signal: f.Signal,
		StderrTail: f.Stderr, Chain: f.Chain, PeakMemory: f.PeakMemory, Fatal: f.Fatal, Partition: f.Partition}
	if f.Record != nil {
		m.RecordOrigin, m.RecordValue = f.Record.Origin, f.Record.Value
	}
	return m
}

// FailureFromProto gives the failure of a message; nil stays nil.
func FailureFromProto(m *pb.Failure) *status.Failure {
	if m == nil {
		return nil
	}
	f := &status.Failure{Kind: status.FailureKind(m.Kind), Message: m.Message, Stack: m.Stack, Exit: int(m.ExitCode), Signal: m.Signal,
		Stderr: m.StderrTail, Chain: m.Chain, PeakMemory: m.PeakMemory, Fatal: m.Fatal, Partition: m.Partition}
	if m.RecordOrigin != "" {
		f.Record = &status.Record{Origin: m.RecordOrigin, Value: m.RecordValue}
	}
	return f
}
