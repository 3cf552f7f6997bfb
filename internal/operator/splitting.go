package operator

// Splitting is an operator that tells apart the splits of the source that feeds it.
// All is called on the task's goroutine.
type Splitting[T any] interface {
	// Attach is called once by a source that has splits, before it emits anything. It
	// gives where the records go that belong to no split.
	Attach(c SplitControl) (push func(v T, ts int64))
	// Begin is told of a split and of the time that it had in a checkpoint, noSplitTime
	// if none.
	Begin(id string, had SplitTime) SplitReceiver[T]
	// Among gives the splitting operator that it is together with others that the same
	// source feeds; all are the receivers of them and it.
	Among(all []*Receiver[T]) Splitting[T]
}

// SplitControl is what a source does for whoever tells its splits apart.
type SplitControl interface {
	// Pause asks for no more records of a split, or for them again; can is false if
	// the source cannot.
	Pause(id string, paused bool) (can bool)
}

// SplitReceiver is where the records of one split go.
type SplitReceiver[T any] struct {
	Push func(v T, ts int64)
	// End says that no record of the split follows.
	End func()
	// Time is what a checkpoint keeps of the split's.
	Time func() SplitTime
}

// SplitTime is the event time of a split, in Unix milliseconds.
type SplitTime struct {
	// Watermark is the split's own: no record at or before it follows.
	Watermark int64 `json:"watermark"`
	// Latest is the event time of its latest record.
	Latest int64 `json:"latest"`
}

var noSplitTime = SplitTime{Watermark: noTime, Latest: noTime}

// earlier gives the times of a split that is in two places, as careful as can be.
func (t SplitTime) earlier(other SplitTime) SplitTime {
	return SplitTime{Watermark: min(t.Watermark, other.Watermark), Latest: min(t.Latest, other.Latest)}
}

// splittingFan gives the records of a source's splits to several operators, some of
// which tell the splits apart.
type splittingFan[T any] struct{ outs []*Receiver[T] }

func (f splittingFan[T]) Among(all []*Receiver[T]) Splitting[T] { return splittingFan[T]{all} }

func (f splittingFan[T]) Attach(c SplitControl) func(T, int64) {
	pushes := make([]func(T, int64), len(f.outs))
	for i, r := range f.outs {
		if pushes[i] = r.Push; r.Splits != nil {
			pushes[i] = r.Splits.Attach(c)
		}
	}
	return pushAll(pushes)
}

func (f splittingFan[T]) Begin(id string, had SplitTime) SplitReceiver[T] {
	var splits []SplitReceiver[T]
	pushes := make([]func(T, int64), len(f.outs))
	for i, r := range f.outs {
		if pushes[i] = r.Push; r.Splits != nil {
			s := r.Splits.Begin(id, had)
			splits, pushes[i] = append(splits, s), s.Push
		}
	}
	return SplitReceiver[T]{
		Push: pushAll(pushes),
		End: func() {
			for _, s := range splits {
				s.End()
			}
		},
		Time: func() SplitTime {
			t := splits[0].Time()
			for _, s := range splits[1:] {
				t = t.earlier(s.Time())
			}
			return t
		},
	}
}

func pushAll[T any](pushes []func(T, int64)) func(T, int64) {
	return func(v T, ts int64) {
		for _, push := range pushes {
			push(v, ts)
		}
	}
}
