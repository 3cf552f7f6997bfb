package functions

import (
	"github.com/weirstream/weir/internal/sql/datetime"
	"github.com/weirstream/weir/internal/sql/expr"
	"github.com/weirstream/weir/types"
)

// patterns are the functions that write timestamps by a pattern.
func patterns() []*expr.Function {
	return []*expr.Function{
		bound("DATE_FORMAT", "temporal", "DATE_FORMAT(t, pattern)", "A timestamp, or a text that is one, written by a pattern.", func(s *expr.Site) (types.Type, error) {
			if len(s.Args) == 2 && s.Kind(0).IsTimestamp() {
				return giving("mt", always(text))(s)
			}
			return giving("tt", always(text))(s)
		}, dateFormat),
		bound("FROM_UNIXTIME", "temporal", "FROM_UNIXTIME(n[, pattern])", "The local time of seconds since 1970, written by a pattern.", giving("I?t", always(text)), fromUnixtime),
		bound("CONVERT_TZ", "temporal", "CONVERT_TZ(s, from, to)", "A local time of one zone as that of another.", giving("ttt", always(text)), convertTZ),
	}
}

func dateFormat(b *expr.Bound) (expr.Kernel, error) {
	if b.Args[0].Kind.IsText() {
		return textFormat(b)
	}
	formats, err := formatters(b, 1, "")
	if err != nil {
		return nil, err
	}
	zone := datetime.UTC
	if b.Args[0].Kind == types.TimestampLTZ {
		zone = datetime.ZoneOf(b.Session.Zone)
	}
	return failing(func(dst []byte, r row) ([]byte, bool, error) {
		f, err := formats(r)
		if err != nil {
			return dst, false, err
		}
		dst, err = f.Append(dst, zone.Local(r.args[0].I64[r.i]), r.args[0].Nanos(r.i))
		return dst, true, err
	}), nil
}

// textFormat writes the seconds of a text; what is behind them is lost.
func textFormat(b *expr.Bound) (expr.Kernel, error) {
	formats, err := simples(b, 1, "")
	if err != nil {
		return nil, err
	}
	seconds, err := datetime.NewSimple(secondsPattern)
	if err != nil {
		return nil, err
	}
	return failing(func(dst []byte, r row) ([]byte, bool, error) {
		f, err := formats(r)
		if err != nil {
			return dst, false, err
		}
		ms, ok := seconds.Parse(r.bytes(0), datetime.UTC)
		if !ok {
			return dst, false, nil
		}
		return f.Append(dst, ms, datetime.UTC), true, nil
	}), nil
}

func fromUnixtime(b *expr.Bound) (expr.Kernel, error) {
	formats, err := simples(b, 1, secondsPattern)
	if err != nil {
		return nil, err
	}
	zone := datetime.ZoneOf(b.Session.Zone)
	return failing(func(dst []byte, r row) ([]byte, bool, error) {
		f, err := formats(r)
		if err != nil {
			return dst, false, err
		}
		return f.Append(dst, r.int(0)*datetime.Second, zone), true, nil
	}), nil
}

func convertTZ(*expr.Bound) (expr.Kernel, error) {
	seconds, err := datetime.NewSimple(secondsPattern)
	if err != nil {
		return nil, err
	}
	return failing(func(dst []byte, r row) ([]byte, bool, error) {
		if _, ok := seconds.Parse(r.bytes(0), datetime.UTC); !ok {
			return dst, false, nil
		}
		from, err := datetime.LoadZone(string(r.bytes(1)))
		if err != nil {
			return dst, false, err
		}
		to, err := datetime.LoadZone(string(r.bytes(2)))
		if err != nil {
			return dst, false, err
		}
		ms, ok := seconds.Parse(r.bytes(0), from)
		if !ok {
			return dst, false, nil
		}
		return seconds.Append(dst, ms, to), true, nil
	}), nil
}
