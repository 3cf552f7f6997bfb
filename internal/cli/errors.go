package cli

import (
	"errors"
	"regexp"

	"github.com/weirstream/weir/client"
)

// told is an error as a person should read it.
type told struct {
	text string
	err  error
}

func (t *told) Error() string { return t.text }
func (t *told) Unwrap() error { return t.err }

// javaClass is how the texts of the REST API name exceptions, for clients that
// were written for Flink.
var javaClass = regexp.MustCompile(`(?m)^(Caused by: )?(?:[a-z]\w*\.)+[A-Z][\w$]*: `)

// action wraps an error of the cluster as a user should read it: what could not
// be done, why, and what to do about it if that is known.
func action(what string, err error) error {
	if err == nil {
		return nil
	}
	text := what + "\n" + javaClass.ReplaceAllString(err.Error(), "$1")
	_, refused := errors.AsType[*client.Error](err)
	_, failed := errors.AsType[*client.OperationError](err)
	if !refused && !failed {
		text += "\nIs the cluster running? `weir cluster status` tells; -m HOST:PORT chooses another."
	}
	return &told{text: text, err: err}
}

// renamed makes an error name a program as the user does and not as it is
// stored.
func renamed(err error, stored, name string) error {
	if err == nil || stored == "" {
		return err
	}
	return &told{text: regexp.MustCompile(`\b(?:[0-9a-f]{8}-[0-9a-f-]{27}_)?`+regexp.QuoteMeta(stored)).ReplaceAllLiteralString(err.Error(), name), err: err}
}

// failed tells how a job ended and where there is more to read.
func failed(job, state, cause, address string) error {
	return ends(exitFailure, "Job %s ended as %s.\n%s\nAll that is known: http://%s/jobs/%s/exceptions", job, state, cause, address, job)
}
