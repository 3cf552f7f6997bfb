package sqlrun

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirstream/weir/batch"
)

// TestWhoGivesUpLosesNothing gives up waiting again and again, and gets every batch once.
func TestWhoGivesUpLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		r := newReader(func(ctx context.Context) (*batch.Columns, error) {
			select {
			case <-time.After(time.Second):
				n++
				return &batch.Columns{N: n}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		for want := 1; want <= 3; {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			b, err := r.next(ctx)
			cancel()
			switch {
			case errors.Is(err, context.DeadlineExceeded):
			case err != nil || b.N != want:
				t.Fatalf("batch %v, %v; want %d", b, err, want)
			default:
				want++
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.next(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		r.cancel()
		if _, err := r.next(t.Context()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
