package config

import (
	"regexp"
	"strings"
	"testing"
)

var named = regexp.MustCompile(`[a-z]+(?:[.-][a-zA-Z]+)*\.[a-zA-Z.-]+[a-zA-Z]`)

// A removed option is known to nobody, and what is proposed instead takes effect.
func TestRemovedOptions(t *testing.T) {
	for key, instead := range removed {
		_, err := New(map[string]string{key: "64m"})
		if err == nil || !strings.Contains(err.Error(), key+": Flink has removed this option; "+instead) {
			t.Errorf("%s: %v", key, err)
		}
		if !strings.HasPrefix(instead, "set ") && !strings.HasPrefix(instead, "remove it: ") {
			t.Errorf("%s: %q does not say what to do", key, instead)
		}
		keys := named.FindAllString(instead, -1)
		if strings.HasPrefix(instead, "set ") && len(keys) == 0 {
			t.Errorf("%s: %q names no option", key, instead)
		}
		for _, k := range keys {
			if info, ok := Describe(k); !ok || info.NoEffect != "" {
				t.Errorf("%s: %s is proposed, and has no effect (%v, %q)", key, k, ok, info.NoEffect)
			}
		}
		if _, err := Explain(key); err == nil || !strings.Contains(err.Error(), instead) {
			t.Errorf("explain %s: %v", key, err)
		}
	}
}
