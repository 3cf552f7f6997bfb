package engine

import (
	"errors"
	"io"
	"regexp"

	"github.com/weirstream/weir/internal/sql/session"
)

// notNumber is how a job says that a text is no number, which may come from another
// process and then is no more than a text.
var notNumber = regexp.MustCompile(`cannot cast '((?s:.*?))' to (?:TINYINT|SMALLINT|INT|BIGINT|DECIMAL|FLOAT|DOUBLE)\b`)

// failed gives the failure of a job the class by which Flink's clients know it. All that
// the job says, such as the place in the statement and the record, stays in the text.
func failed(err error) error {
	var known *session.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, io.EOF) {
		return err
	}
	if m := notNumber.FindStringSubmatch(err.Error()); m != nil {
		return &session.Error{Class: session.ClassNumber, Text: "For input string: '" + m[1] + "'. " + err.Error()}
	}
	return err
}
