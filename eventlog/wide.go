package eventlog

import (
	"context"
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/ledger"
)

// widen makes a log with Adaptive as wide as its events with ids have shards, in the bucket of a record. Nobody reads a
// shard that the ledger does not have, so this comes before the write. The record is stamped like those that a
// collection writes.
func (c *core) widen(ctx context.Context, r *record) error {
	if c.options.Adaptive == nil {
		return nil
	}
	b := bucket{r.log, c.options.Bucket.Start(r.At)}
	if !c.wide.has(b) {
		done, err := c.wide.wait(ctx, b)
		if err != nil {
			return err
		}
		defer done()
	}
	// It sends nothing if the process knows that the log is wide enough.
	wide, err := c.shards.Ledgers().Grow(ctx, r.log, r.At, max(c.options.Shards, 1), "events with ids have as many shards")
	if err != nil {
		return err
	}
	c.wide.add(b)
	if wide.Generation > 0 {
		r.item[ledger.StampName] = &types.AttributeValueMemberN{Value: strconv.FormatInt(wide.Generation, 10)}
	}
	return nil
}

// bucket is a log in a bucket of time.
type bucket struct {
	log   string
	start time.Time
}

// widened knows the buckets that are wide enough. When a bucket begins, one append reads and writes its ledger, and those
// that come meanwhile wait for it: together they would throttle it.
type widened struct {
	seed  maphash.Seed
	turns [64]chan struct{} // by the hash of the bucket; has an element while somebody is at it

	mu   sync.Mutex
	wide map[bucket]bool
}

// maxWide is how many buckets are known at a time.
const maxWide = 4096

func newWidened() *widened {
	w := &widened{seed: maphash.MakeSeed(), wide: make(map[bucket]bool)}
	for i := range w.turns {
		w.turns[i] = make(chan struct{}, 1)
	}
	return w
}

func (w *widened) has(b bucket) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wide[b]
}

func (w *widened) add(b bucket) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wide) >= maxWide {
		clear(w.wide)
	}
	w.wide[b] = true
}

// wait waits for the turn of a bucket. The caller ends it.
func (w *widened) wait(ctx context.Context, b bucket) (done func(), err error) {
	turn := w.turns[maphash.String(w.seed, b.log+b.start.String())%uint64(len(w.turns))]
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
