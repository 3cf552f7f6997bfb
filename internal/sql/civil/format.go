package civil

import "strconv"

// AppendDate writes yyyy-MM-dd, where the year has four digits: of a greater one the
// last four.
func AppendDate(dst []byte, days int) []byte {
	year, month, day := Date(days)
	if year < 0 {
		dst, year = append(dst, '-'), -year
	}
	dst = appendPadded(dst, year%10000, 4)
	dst = append(dst, '-')
	dst = appendPadded(dst, month, 2)
	dst = append(dst, '-')
	return appendPadded(dst, day, 2)
}

// AppendTime writes HH:mm:ss of milliseconds of the day and, if the precision is not
// 0, a fraction without zeros at its end, of one digit at least.
func AppendTime(dst []byte, millis int, precision int) []byte {
	dst = appendClock(dst, millis)
	if precision <= 0 {
		return dst
	}
	dst = append(dst, '.')
	for rest := millis % Second; precision > 0; precision-- {
		dst = append(dst, byte('0'+rest/100))
		if rest = rest % 100 * 10; rest == 0 {
			break
		}
	}
	return dst
}

func appendClock(dst []byte, millis int) []byte {
	dst = appendPadded(dst, millis/Hour, 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, millis/Minute%60, 2)
	dst = append(dst, ':')
	return appendPadded(dst, millis/Second%60, 2)
}

// AppendTimestamp writes yyyy-MM-dd HH:mm:ss and as many digits of the fraction as the
// precision says.
func AppendTimestamp(dst []byte, millis int64, nanos int32, precision int) []byte {
	days := FloorDiv(millis, Day)
	rest := int(millis - days*Day)
	dst = AppendDate(dst, int(days))
	dst = append(dst, ' ')
	dst = appendClock(dst, rest)
	if precision <= 0 {
		return dst
	}
	dst = append(dst, '.')
	fraction := rest%Second*1e6 + int(nanos)
	for unit := 100_000_000; precision > 0 && unit > 0; precision, unit = precision-1, unit/10 {
		dst = append(dst, byte('0'+fraction/unit%10))
	}
	return dst
}

// AppendMonths writes an interval of months: +y-MM.
func AppendMonths(dst []byte, months int32) []byte {
	m := int64(months)
	dst, m = appendSign(dst, m)
	dst = strconv.AppendInt(dst, m/12, 10)
	dst = append(dst, '-')
	return appendPadded(dst, int(m%12), 2)
}

// AppendMillis writes an interval of milliseconds: +d HH:mm:ss.fff.
func AppendMillis(dst []byte, millis int64) []byte {
	dst, millis = appendSign(dst, millis)
	dst = strconv.AppendUint(dst, uint64(millis)/Day, 10)
	dst = append(dst, ' ')
	rest := int(uint64(millis) % Day)
	dst = appendClock(dst, rest)
	dst = append(dst, '.')
	return appendPadded(dst, rest%Second, 3)
}

func appendSign(dst []byte, v int64) ([]byte, int64) {
	if v < 0 {
		return append(dst, '-'), -v
	}
	return append(dst, '+'), v
}

func appendPadded(dst []byte, v, width int) []byte {
	for limit := 10; width > 1; width, limit = width-1, limit*10 {
		if v < limit {
			for ; width > 1; width-- {
				dst = append(dst, '0')
			}
			break
		}
	}
	return strconv.AppendInt(dst, int64(v), 10)
}
