package session

import (
	"errors"
	"strings"
)

// The classes of Flink's errors, by which its clients tell them apart.
const (
	ClassParse      = "org.apache.flink.table.api.SqlParserException"
	ClassParseEnd   = "org.apache.flink.table.api.SqlParserEOFException"
	ClassValidation = "org.apache.flink.table.api.ValidationException"
	ClassTable      = "org.apache.flink.table.api.TableException"
	ClassCatalog    = "org.apache.flink.table.catalog.exceptions.CatalogException"
	ClassExecution  = "org.apache.flink.table.gateway.service.utils.SqlExecutionException"
	ClassArgument   = "java.lang.IllegalArgumentException"
	ClassRefused    = "java.lang.UnsupportedOperationException"
	ClassNumber     = "java.lang.NumberFormatException"
	ClassFile       = "java.io.FileNotFoundException"
)

// An Error is why a statement was refused or failed, as a chain of causes. Each has the
// class of the exception that Flink's clients know.
type Error struct {
	Class, Text string
	// Cause is what led to it; nil: nothing that is worth telling.
	Cause error
}

func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Text
	}
	return e.Text + ": " + e.Cause.Error()
}

func (e *Error) Unwrap() error { return e.Cause }

// A Cause is one line of a chain of causes.
type Cause struct{ Class, Text string }

// String writes the cause as Flink prints it.
func (c Cause) String() string { return c.Class + ": " + c.Text }

// Causes gives the chain of causes of an error, the outermost first. An error that names
// no class ends the chain with all it says.
func Causes(err error) []Cause {
	var all []Cause
	for err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return append(all, Cause{ClassTable, err.Error()})
		}
		if text, ok := strings.CutSuffix(err.Error(), e.Error()); ok && text != "" {
			all = append(all, Cause{ClassTable, strings.TrimSuffix(strings.TrimSpace(text), ":")})
		}
		all = append(all, Cause{e.Class, e.Text})
		err = e.Cause
	}
	return all
}
