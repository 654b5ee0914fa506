package heatsink

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/place"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/local"
)

// Shards are not partitions: ten shards on the four partitions of a new table share them unevenly. Avoiding shards that
// were throttled makes use of the emptier ones; choosing at random keeps running into the full ones. All four partitions
// of each of these keys are in use and the load is 5/6 of what they can take, so that none of it has to be refused.
func TestThrottleAwareChoiceBeatsUniform(t *testing.T) {
	offered, refused := 0, map[bool]int{}
	for _, aware := range []bool{false, true} {
		offered = 0
		for _, key := range []string{"PAGE_VIEWS", "STATUS#ACTIVE", "GAME#LEADERBOARD", "user-12345"} {
			bubble.Test(t, func(t *testing.T) {
				ctx := context.Background()
				db := startWith(t, local.Options{Physics: &local.Physics{PartitionWrites: 50, OnDemandPartitions: 4, NoSplits: true}})
				client := db.Client()
				makeTable(t, client, "items")
				source := rand.NewPCG(3, 4)
				views := openItems(t, client, Options{Layout: layout.Layout{Shards: 10}, Rand: source, Retry: Retry{Attempts: 1}})
				for start := time.Now(); time.Since(start) < 5*time.Second; time.Sleep(6 * time.Millisecond) {
					if !aware {
						views.core.writer.placer = place.NewPlacer(views.core.schema, place.NewChooser(source)) // remembers nothing
					}
					if _, err := views.Put(ctx, ov("pk", key, "sk", fmt.Sprint(offered))); err != nil {
						refused[aware]++
					}
					offered++
				}
			})
		}
	}
	t.Logf("of %d writes, %d were refused at random, %d avoiding throttled shards", offered, refused[false], refused[true])
	if refused[true] > refused[false]/2 {
		t.Errorf("of %d writes, %d were refused avoiding throttled shards, want less than half of the %d at random", offered, refused[true], refused[false])
	}
}
