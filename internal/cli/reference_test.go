package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/weirstream/weir/config"
)

func TestTheReferenceIsCurrent(t *testing.T) {
	const path = "../../docs/reference/configuration.md"
	text, err := os.ReadFile(path)
	if err != nil || string(text) != reference() {
		t.Errorf("%s is not what the declarations say, error %v: run make docs", path, err)
	}
}

// Every key has its place, and no reason fits everything.
func TestTheReferenceIsComplete(t *testing.T) {
	text := reference()
	for _, o := range config.Options() {
		if strings.Count(text, "`"+o.Key+"`") == 0 {
			t.Errorf("%s is missing", o.Key)
		}
	}
	for why, keys := range config.WithoutEffect() {
		if !strings.Contains(text, "* "+why+": ") || why == "" {
			t.Errorf("the reason %q of %v is missing", why, keys)
		}
	}
}
