package sqlclient

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A resultMode is how the rows of queries are shown.
type resultMode string

const (
	tableMode     resultMode = "TABLE"
	changelogMode resultMode = "CHANGELOG"
	tableauMode   resultMode = "TABLEAU"
)

// settings are those of the session that the client itself heeds.
type settings struct {
	mode      resultMode
	modeGiven bool // somebody has set it
	batch     bool
	verbose   bool
	dmlSync   bool
	timeCost  bool
	columns   int // limit of a column's width
	rows      int // limit of rows that are kept for a view
}

// The keys that the client heeds.
const (
	resultModeKey = "sql-client.execution.result-mode"
	maxRowsKey    = "sql-client.execution.max-table-result.rows"
	verboseKey    = "sql-client.verbose"
	timeCostKey   = "sql-client.display.print-time-cost"
	maxWidthKey   = "table.display.max-column-width"
	oldWidthKey   = "sql-client.display.max-column-width"
	dmlSyncKey    = "table.dml-sync"
	runtimeKey    = "execution.runtime-mode"
)

// settingsOf reads them from all of the session's.
func settingsOf(all map[string]string) (settings, error) {
	s := settings{mode: tableMode, timeCost: true, columns: 30, rows: 1_000_000}
	if text, ok := all[resultModeKey]; ok {
		s.mode, s.modeGiven = resultMode(strings.ToUpper(text)), true
		if !slices.Contains([]resultMode{tableMode, changelogMode, tableauMode}, s.mode) {
			return s, fmt.Errorf("java.lang.IllegalArgumentException: Could not parse value '%s' for key '%s'. Expected one of: [[TABLE, CHANGELOG, TABLEAU]]", text, resultModeKey)
		}
	}
	s.batch = strings.EqualFold(all[runtimeKey], "batch")
	for key, into := range map[string]*bool{verboseKey: &s.verbose, dmlSyncKey: &s.dmlSync, timeCostKey: &s.timeCost} {
		if text, ok := all[key]; ok {
			v, err := strconv.ParseBool(strings.ToLower(text))
			if err != nil {
				return s, badValue(key, text, "true or false")
			}
			*into = v
		}
	}
	for _, n := range []struct {
		key   string
		into  *int
		least int
	}{{oldWidthKey, &s.columns, 4}, {maxWidthKey, &s.columns, 4}, {maxRowsKey, &s.rows, 1}} {
		if text, ok := all[n.key]; ok {
			v, err := strconv.Atoi(text)
			if err != nil || v < n.least {
				return s, badValue(n.key, text, fmt.Sprintf("a whole number from %d", n.least))
			}
			*n.into = v
		}
	}
	return s, nil
}

func badValue(key, value, allowed string) error {
	return fmt.Errorf("java.lang.IllegalArgumentException: Could not parse value '%s' for key '%s'; allowed is %s", value, key, allowed)
}
