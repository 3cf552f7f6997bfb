package functions

import (
	"time"

	"github.com/weirstream/weir/batch"
	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// clocks are the functions that ask what time it is: when the query began in a batch, now
// in a stream.
func clocks() []*expr.Function {
	niladic := func(name, doc string, t types.Type, perRow bool, write func(b *expr.Bound, now time.Time, out *batch.Column, i int)) *expr.Function {
		f := bound(name, "temporal", name, doc, giving("", always(t.NotNull())), func(b *expr.Bound) (expr.Kernel, error) {
			return func(out *batch.Column, _ []*batch.Column, rows expr.Rows) error {
				now := instant(b, perRow)
				return rows.Each(func(i int) error { write(b, now, out, i); return nil })
			}, nil
		})
		f.Form, f.Volatility = expr.Niladic, expr.PerRow
		return f
	}
	moment := func(_ *expr.Bound, now time.Time, out *batch.Column, i int) { setMoment(out, i, now.UnixMilli(), 0) }
	local := func(b *expr.Bound, now time.Time) int64 {
		return datetime.ZoneOf(b.Session.Zone).Local(now.UnixMilli())
	}
	clock := func(b *expr.Bound, now time.Time, out *batch.Column, i int) {
		out.I32[i] = int32(floorMod(local(b, now), datetime.Day) / datetime.Second * datetime.Second)
	}
	proctime := ltz3
	proctime.Time = types.Proctime
	return []*expr.Function{
		niladic("CURRENT_DATE", "Today.", types.Of(types.Date), false, func(b *expr.Bound, now time.Time, out *batch.Column, i int) {
			ms := local(b, now)
			out.I32[i] = int32((ms - floorMod(ms, datetime.Day)) / datetime.Day)
		}),
		niladic("CURRENT_TIME", "The time of day.", types.TimeOf(0), false, clock),
		niladic("LOCALTIME", "The time of day.", types.TimeOf(0), false, clock),
		niladic("LOCALTIMESTAMP", "The local time.", types.TimestampOf(3), false, func(b *expr.Bound, now time.Time, out *batch.Column, i int) {
			setMoment(out, i, local(b, now), 0)
		}),
		niladic("CURRENT_TIMESTAMP", "The instant.", ltz3, false, moment),
		niladic("NOW", "The instant.", ltz3, false, moment),
		niladic("CURRENT_ROW_TIMESTAMP", "The instant, of each row.", ltz3, true, moment),
		niladic("PROCTIME", "The processing time of each row.", proctime, true, moment),
	}
}

// instant is the time that a function tells.
func instant(b *expr.Bound, perRow bool) time.Time {
	if perRow || b.Session.Streaming || b.Session.Now.IsZero() {
		return time.Now()
	}
	return b.Session.Now
}
