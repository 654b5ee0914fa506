package cache

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// Old values are refreshed in the background, but not more than 1,000 at a time.
func TestCacheRefreshesAreBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		kept := New[int](Options{TTL: time.Second, Stale: time.Hour, Entries: 5000})
		defer kept.Close()
		ctx := context.Background()
		for i := range 2000 {
			if _, err := kept.Get(ctx, fmt.Sprint(i), func(context.Context) (int, error) { return i, nil }); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Second)
		var under atomic.Int64
		for i := range 2000 {
			got, err := kept.Get(ctx, fmt.Sprint(i), func(ctx context.Context) (int, error) {
				under.Add(1)
				<-ctx.Done()
				return 0, ctx.Err()
			})
			if err != nil || got != i {
				t.Fatalf("got %d, %v, want the old value", got, err)
			}
		}
		synctest.Wait()
		if n := under.Load(); n != maxUnattended {
			t.Errorf("%d refreshes are under way, want %d", n, maxUnattended)
		}
	})
}
