package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A PortRange is the ports from First to Last, both included. The range 0–0
// lets the system choose.
type PortRange struct {
	First, Last int
}

// ports is a list of ports and ranges of ports.
var ports = kind[[]PortRange]{
	name:   "list of ports",
	forms:  "ports and ranges of ports separated by commas, such as 8081 or 50100-50200,50300; 0 = any free port",
	parse:  parsePorts,
	format: formatPorts,
}

func parsePorts(s string) ([]PortRange, error) {
	var ranges []PortRange
	for part := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		low, err := parsePort(first)
		if err != nil {
			return nil, err
		}
		high, err := parsePort(last)
		if err != nil {
			return nil, err
		}
		if high < low {
			return nil, fmt.Errorf("the range %s ends before it starts", strings.TrimSpace(part))
		}
		ranges = append(ranges, PortRange{low, high})
	}
	return ranges, nil
}

func parsePort(s string) (int, error) {
	s = strings.TrimSpace(s)
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no port", s)
	}
	if n > 65535 {
		return 0, fmt.Errorf("port %d is above 65535", n)
	}
	return int(n), nil
}

func formatPorts(ranges []PortRange) string {
	parts := make([]string, len(ranges))
	for i, r := range ranges {
		parts[i] = strconv.Itoa(r.First)
		if r.Last != r.First {
			parts[i] += "-" + strconv.Itoa(r.Last)
		}
	}
	return strings.Join(parts, ",")
}

// slashes checks a path that starts and ends with a slash.
func slashes(s string) error {
	if !strings.HasPrefix(s, "/") || !strings.HasSuffix(s, "/") {
		return errors.New("must start and end with a slash")
	}
	return nil
}
