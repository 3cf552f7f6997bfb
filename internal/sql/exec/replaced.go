package exec

import (
	"fmt"
	"strings"
)

// replacedSince ends the text of a failure by a part of a table that is gone. From another
// process a failure is no more than a text.
const replacedSince = "it was there when the job began: it has been replaced or removed since, so run the statement again, or this machine does not see it"

// Replaced says of a failure that a connector has met that a part of its table, which was
// found when the job began, is there no more.
func Replaced(err error) error { return fmt.Errorf("%w; %s", err, replacedSince) }

// WasReplaced reports whether a job has failed by that. It may be begun again, and finds what
// is there now, unless somebody has seen something of it.
func WasReplaced(err error) bool { return strings.Contains(err.Error(), replacedSince) }
