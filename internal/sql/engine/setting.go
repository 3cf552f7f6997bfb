package engine

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/weirstream/weir/config"
	"github.com/weirstream/weir/internal/sql/ast"
	"github.com/weirstream/weir/internal/sql/session"
)

// allowed refuses a value that its key cannot have. Keys that nobody knows may have any.
func allowed(key, value string) error {
	_, err := config.New(map[string]string{key: value})
	var wrong *config.Error
	if err == nil || !errors.As(err, &wrong) {
		return err
	}
	if _, err := config.Explain(key); err != nil {
		return nil
	}
	return &session.Error{Class: session.ClassExecution, Text: fmt.Sprintf("Failed to set key %s with value %s.", key, value),
		Cause: &session.Error{Class: session.ClassArgument, Text: fmt.Sprintf("Could not parse value '%s' for key '%s'.", value, key), Cause: cause(key, value, wrong)}}
}

// known are the settings that mean something here. A session may have any others, which
// mean something to its client.
func known(settings map[string]string) map[string]string {
	all := maps.Clone(settings)
	maps.DeleteFunc(all, func(key, _ string) bool {
		_, err := config.Explain(key)
		return err != nil
	})
	return all
}

// settles reports whether a statement does no more than change settings.
func settles(s ast.Statement) bool {
	switch s.(type) {
	case *ast.Set, *ast.Reset:
		return true
	}
	return false
}

// cause says what is wrong with a value: in Flink's words, where clients look at them.
func cause(key, value string, wrong *config.Error) error {
	if key == config.ExecutionRuntimeMode.Key {
		return &session.Error{Class: session.ClassArgument,
			Text: "Could not parse value for enum class org.apache.flink.api.common.RuntimeExecutionMode. Expected one of: [[STREAMING, BATCH, AUTOMATIC]]"}
	}
	var all []string
	for _, p := range wrong.Problems {
		if strings.Contains(p.What, "no valid integer") {
			return &session.Error{Class: session.ClassNumber, Text: fmt.Sprintf("For input string: %q", value)}
		}
		all = append(all, p.String())
	}
	return &session.Error{Class: session.ClassArgument, Text: strings.Join(all, "; ")}
}
