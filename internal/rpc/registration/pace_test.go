package registration

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirstream/weir/internal/rpc"
)

func TestDefaultsAreFlinks(t *testing.T) {
	want := Pace{FirstTimeout: 100 * time.Millisecond, LastTimeout: 30 * time.Second, ErrorDelay: 10 * time.Second, RefusedDelay: 30 * time.Second}
	if got := (Pace{}).Complete(); got != want {
		t.Errorf("%+v", got)
	}
	own := Pace{FirstTimeout: 1, LastTimeout: 2, ErrorDelay: 3, RefusedDelay: 4}
	if got := own.Complete(); got != own {
		t.Errorf("%+v", got)
	}
}

func TestTimeoutDoubles(t *testing.T) {
	p := Pace{}.Complete()
	for attempt, want := range map[int]string{0: "100ms", 1: "200ms", 2: "400ms", 8: "25.6s", 9: "30s", 10: "30s", 1 << 40: "30s"} {
		if got := p.Timeout(attempt).String(); got != want {
			t.Errorf("attempt %d: %s, want %s", attempt, got, want)
		}
	}
	if got := (Pace{FirstTimeout: time.Minute, LastTimeout: time.Second}).Timeout(0); got != time.Second {
		t.Errorf("a first timeout above the last one: %s", got)
	}
}

func TestPauseDependsOnTheError(t *testing.T) {
	p := Pace{ErrorDelay: 300 * time.Millisecond, RefusedDelay: 7 * time.Second}.Complete()
	for _, c := range []struct {
		attempt int
		err     error
		want    string
	}{
		{0, rpc.ErrUnreachable, "10ms"},
		{3, rpc.ErrDisconnected, "100ms"},
		{4, rpc.ErrFenced, "200ms"},
		{5, rpc.ErrUnreachable, "300ms"},
		{99, rpc.ErrUnreachable, "300ms"},
		{99, fmt.Errorf("call: %w", rpc.ErrTimeout), "0s"},
		{0, fmt.Errorf("call: %w", rpc.Refuse("not you")), "7s"},
	} {
		if got := p.Pause(c.attempt, c.err).String(); got != c.want {
			t.Errorf("attempt %d, %v: %s, want %s", c.attempt, c.err, got, c.want)
		}
	}
	if got := (Pace{}).Complete().Pause(99, rpc.ErrUnreachable); got != 10*time.Second {
		t.Errorf("at last: %s", got)
	}
}
