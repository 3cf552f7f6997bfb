package engine

import (
	"errors"
	"io"
	"testing"

	"github.com/weirstream/weir/internal/sql/session"
)

func TestFailuresHaveClasses(t *testing.T) {
	for text, want := range map[string]string{
		"line 1, column 12: CAST(v AS INT): cannot cast 'twenty' to INT\nRecord: b.csv, line 2": "java.lang.NumberFormatException: For input string: 'twenty'. line 1, column 12: CAST(v AS INT): cannot cast 'twenty' to INT\nRecord: b.csv, line 2",
		"cannot cast 'a\n' b' to DECIMAL(3, 1)":                                                 "java.lang.NumberFormatException: For input string: 'a\n' b'. cannot cast 'a\n' b' to DECIMAL(3, 1)",
		"cannot cast 'x' to INTERVAL":                                                           "org.apache.flink.table.api.TableException: cannot cast 'x' to INTERVAL",
		"out of memory":                                                                         "org.apache.flink.table.api.TableException: out of memory",
	} {
		if got := session.Causes(failed(errors.New(text))); len(got) != 1 || got[0].String() != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	known := &session.Error{Class: session.ClassParse, Text: "cannot cast 'x' to INT"}
	for _, err := range []error{nil, io.EOF, known} {
		if failed(err) != err {
			t.Errorf("%v is changed", err)
		}
	}
}
