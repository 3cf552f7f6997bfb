package metrics

import (
	"time"

	"github.com/weirstream/weir/internal/status"
)

// OfTask names the figures of a running task, in the scope of the task.
func OfTask(f *status.TaskFigures) []Metric {
	inLocal, inRemote := f.BatchesInLocal, f.BatchesInRemote
	all := []Metric{
		{"isBackPressured", Truth(f.BackPressured)},
		{"busyTimeMsPerSecond", Number(f.Busy.MillisPerSecond)},
		{"idleTimeMsPerSecond", Whole(int64(f.Idle.MillisPerSecond))},
		{"backPressuredTimeMsPerSecond", Whole(int64(f.Blocked.MillisPerSecond))},
		{"hardBackPressuredTimeMsPerSecond", Whole(int64(f.Blocked.MillisPerSecond))},
		{"accumulateBusyTimeMs", Number(float64(f.Busy.Total.Milliseconds()))},
		{"accumulateIdleTimeMs", Whole(f.Idle.Total.Milliseconds())},
		{"accumulateBackPressuredTimeMs", Whole(f.Blocked.Total.Milliseconds())},
		{"initializationTime", Whole(f.Initialization.Milliseconds())},
		{"mailboxQueueSize", Whole(int64(f.MailQueued))},
		{"mailboxMailsPerSecond", Number(f.Mail.PerSecond)},
		{"mailboxLatencyMs", Spread(&f.MailLatency)},
	}
	all = append(all, counter("numRecordsIn", f.RecordsIn)...)
	all = append(all, counter("numRecordsOut", f.RecordsOut)...)
	all = append(all, counter("numBytesIn", f.BytesIn)...)
	all = append(all, counter("numBytesOut", f.BytesOut)...)
	all = append(all, counter("numBuffersOut", f.BatchesOut)...)
	for _, group := range []string{"", "Shuffle.Netty.Input."} {
		all = append(all, counter(group+"numBytesInRemote", f.BytesIn)...)
		all = append(all, counter(group+"numBuffersInLocal", inLocal)...)
		all = append(all, counter(group+"numBuffersInRemote", inRemote)...)
	}
	for _, group := range []struct{ in, out string }{{"buffers.", "buffers."}, {"Shuffle.Netty.Input.Buffers.", "Shuffle.Netty.Output.Buffers."}} {
		all = append(all,
			Metric{group.in + "inputQueueLength", Whole(int64(f.InQueued))}, Metric{group.in + "inPoolUsage", Single(f.InUse)},
			Metric{group.out + "outputQueueLength", Whole(int64(f.OutQueued))}, Metric{group.out + "outPoolUsage", Single(f.OutUse)})
	}
	if f.HasInput {
		all = append(all, Metric{inputWatermark, Whole(f.InputWatermark)})
	}
	return all
}

const inputWatermark = "currentInputWatermark"

// OfOperator names the figures of an operator, in its own scope.
func OfOperator(o *status.OperatorFigures) []Metric {
	all := counter("numRecordsIn", o.RecordsIn)
	all = append(all, counter("numRecordsOut", o.RecordsOut)...)
	all = append(all, Metric{"currentOutputWatermark", Whole(o.OutputWatermark)})
	if o.DropsLate {
		all = append(all, Metric{"numLateRecordsDropped", Whole(o.Late)})
	}
	if o.Drift != nil {
		all = append(all, Metric{"watermarkAlignmentDrift", millis(*o.Drift)})
	}
	if s := o.Sent; s != nil {
		all = append(all, Metric{"numRecordsSend", Whole(s.Records)}, Metric{"numBytesSend", Whole(s.Bytes)},
			Metric{"numRecordsSendErrors", Whole(s.Errors)}, Metric{"currentSendTime", millis(s.Last)})
	}
	if o.Source {
		if o.Pending != nil {
			all = append(all, Metric{"pendingRecords", Whole(*o.Pending)})
		}
		return append(all, Metric{"numRecordsInErrors", Whole(o.Unread)}, Metric{"sourceIdleTime", millis(o.SourceIdle)},
			Metric{"currentEmitEventTimeLag", known(o.EmitLag)}, Metric{"watermarkLag", known(o.WatermarkLag)})
	}
	return append(all, Metric{inputWatermark, Whole(o.InputWatermark)})
}

// OfTaskAndOperators names the figures of a task and of its operators, whose
// names stand before those of their metrics.
func OfTaskAndOperators(f *status.TaskFigures) []Metric {
	all := OfTask(f)
	for i := range f.Operators {
		prefix := OperatorName(f.Operators[i].Name) + "."
		for _, m := range OfOperator(&f.Operators[i]) {
			all = append(all, Metric{prefix + m.Name, m.Value})
		}
	}
	return all
}

// known is a duration in milliseconds, or -1, as Flink says of what it does not know.
func known(d *time.Duration) Value {
	if d == nil {
		return Whole(-1)
	}
	return millis(*d)
}

// counter is a total with its rate.
func counter(name string, c status.Count) []Metric {
	return []Metric{{name, Whole(c.Total)}, {name + "PerSecond", Number(c.PerSecond)}}
}

// millis is a duration in the unit of most of Flink's metrics.
func millis(d time.Duration) Value { return Whole(d.Milliseconds()) }
