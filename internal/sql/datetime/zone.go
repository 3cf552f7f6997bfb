package datetime

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones by name, whatever the machine has
)

// Zone is a time zone: where there is daylight saving, local times may be none or two.
type Zone struct {
	loc *time.Location
	// fixed is the offset in milliseconds of a zone that has only one.
	fixed    int64
	constant bool
	name     string
}

// UTC is the zone of no offset.
var UTC = &Zone{loc: time.UTC, constant: true, name: "UTC"}

// short are the names of three letters that Java knows.
var short = map[string]string{
	"ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "ART": "Africa/Cairo", "AST": "America/Anchorage",
	"BET": "America/Sao_Paulo", "BST": "Asia/Dhaka", "CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago", "CTT": "Asia/Shanghai",
	"EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia",
	"NET": "Asia/Yerevan", "NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico", "PST": "America/Los_Angeles",
	"SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh", "EST": "-05:00", "MST": "-07:00", "HST": "-10:00", "Z": "UTC", "UT": "UTC", "GMT0": "UTC",
}

var zones sync.Map // of names to *Zone; bounded by the names there are

// LoadZone is the zone of a name: of a region, UTC, GMT or UT with or without an offset, an
// offset alone, or one of Java's short names.
func LoadZone(name string) (*Zone, error) {
	if z, ok := zones.Load(name); ok {
		return z.(*Zone), nil
	}
	z, err := loadZone(name)
	if err != nil {
		return nil, err
	}
	zones.Store(name, z)
	return z, nil
}

func loadZone(name string) (*Zone, error) {
	full := name
	if s, ok := short[name]; ok {
		full = s
	}
	switch full {
	case "UTC", "GMT", "Etc/UTC", "Etc/GMT":
		return &Zone{loc: time.UTC, constant: true, name: name}, nil
	}
	offset := full
	for _, prefix := range []string{"UTC", "GMT", "UT"} {
		if rest, ok := strings.CutPrefix(full, prefix); ok {
			offset = rest
			break
		}
	}
	if ms, ok := parseOffset(offset); ok {
		return &Zone{loc: time.FixedZone(name, int(ms/Second)), fixed: ms, constant: true, name: name}, nil
	}
	if full == "" || full == "Local" {
		return nil, fmt.Errorf("time zone %q is not known; allowed are names such as Europe/Berlin and offsets such as GMT+02:00", name)
	}
	loc, err := time.LoadLocation(full)
	if err != nil {
		return nil, fmt.Errorf("time zone %q is not known; allowed are names such as Europe/Berlin and offsets such as GMT+02:00", name)
	}
	return &Zone{loc: loc, name: name}, nil
}

// parseOffset reads ±h, ±hh, ±hhmm, ±hh:mm and ±hh:mm:ss, in milliseconds.
func parseOffset(s string) (int64, bool) {
	if len(s) < 2 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	parts := strings.Split(s[1:], ":")
	if len(parts) == 1 && len(parts[0]) == 4 {
		parts = []string{parts[0][:2], parts[0][2:]}
	}
	total, unit := int64(0), int64(Hour)
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 10, 8)
		if err != nil || len(p) > 2 || i > 2 || i > 0 && (len(p) != 2 || v > 59) || i == 0 && v > 18 {
			return 0, false
		}
		total += int64(v) * unit
		unit /= 60
	}
	if s[0] == '-' {
		total = -total
	}
	return total, total >= -18*Hour && total <= 18*Hour
}

// Name is the name the zone was asked for by.
func (z *Zone) Name() string { return z.name }

// Offset is the zone's offset at an instant, in milliseconds.
func (z *Zone) Offset(instant int64) int64 {
	if z.constant {
		return z.fixed
	}
	_, seconds := time.UnixMilli(instant).In(z.loc).Zone()
	return int64(seconds) * Second
}

// Abbreviation is what the zone is called at an instant.
func (z *Zone) Abbreviation(instant int64) string {
	if z.constant {
		return z.name
	}
	name, _ := time.UnixMilli(instant).In(z.loc).Zone()
	return name
}

// Local is the local time of an instant.
func (z *Zone) Local(instant int64) int64 { return instant + z.Offset(instant) }

// Instant is the instant of a local time. One that is skipped is moved forward by what is
// skipped; of two the first is taken, or the second if late.
func (z *Zone) Instant(local int64, late bool) int64 {
	if z.constant {
		return local - z.fixed
	}
	before, after := z.Offset(local-Day), z.Offset(local+Day)
	if before == after && z.Offset(local-before) == before {
		return local - before
	}
	first, second := local-before, local-after
	firstOK, secondOK := z.Offset(first) == before, z.Offset(second) == after
	switch {
	case firstOK && secondOK:
		if late {
			return max(first, second)
		}
		return min(first, second)
	case firstOK:
		return first
	case secondOK:
		return second
	}
	if t := z.settle(local, first); t != first {
		return t
	}
	return local - before
}

// settle looks for an instant of a local time near a guess, for zones that changed twice
// within a day or two.
func (z *Zone) settle(local, guess int64) int64 {
	t := local - z.Offset(guess)
	if z.Local(t) == local {
		return t
	}
	return guess
}

// ZoneOf is the zone of a location of Go's.
func ZoneOf(loc *time.Location) *Zone {
	if loc == nil || loc == time.UTC {
		return UTC
	}
	return &Zone{loc: loc, name: loc.String()}
}

// Location is the zone as Go has it.
func (z *Zone) Location() *time.Location { return z.loc }
