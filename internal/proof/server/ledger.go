package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
)

// ledger has the ids of the items that were acknowledged. What is in an item follows from its id.
type ledger struct {
	size int // of an item, about
	mu   sync.Mutex
	ids  []string
	next atomic.Int64

	refused, fatal, cut atomic.Int64 // with an error to be retried, with another, and without an answer
	refusal             atomic.Value // the text of one error that is to be retried
}

// payload is what is in an item: it cannot be compressed.
func (l *ledger) payload(id string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	random := rand.NewChaCha8([32]byte(fmt.Appendf(nil, "%032x", h.Sum64())))
	b := make([]byte, l.size*3/4)
	_, _ = random.Read(b)
	return base64.StdEncoding.EncodeToString(b)
}

// put writes a new item once, and notes what became of it.
func (l *ledger) put(ctx context.Context, c *dynamodb.Client) bool {
	id := fmt.Sprintf("item-%08d", l.next.Add(1))
	err := put(ctx, c, id, l.payload(id))
	answer := smithy.APIError(nil)
	switch {
	case err == nil:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ids = append(l.ids, id)
		return true
	case !errors.As(err, &answer):
		l.cut.Add(1)
	case retryable(err):
		l.refused.Add(1)
		l.refusal.Store(err.Error())
	default:
		l.fatal.Add(1)
		progress("  not to be retried: %v", err)
	}
	return false
}

// acknowledged is how many items were.
func (l *ledger) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.ids)
}

// any returns one of the items that were acknowledged.
func (l *ledger) any() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ids) == 0 {
		return ""
	}
	return l.ids[rand.IntN(len(l.ids))]
}

// check reads one item and compares it.
func (l *ledger) check(ctx context.Context, c *dynamodb.Client, id string) error {
	got, err := get(ctx, c, id)
	if err == nil && got != l.payload(id) {
		err = fmt.Errorf("%s is another than was acknowledged", id)
	}
	return err
}

// lost counts the acknowledged items that are not there as they were.
func (l *ledger) lost(ctx context.Context, c *dynamodb.Client) (int, error) {
	l.mu.Lock()
	ids := l.ids
	l.mu.Unlock()
	var lost atomic.Int64
	var first atomic.Value
	var readers sync.WaitGroup
	for part := range 4 {
		readers.Go(func() {
			for i := part; i < len(ids); i += 4 {
				if err := l.check(ctx, c, ids[i]); err != nil {
					lost.Add(1)
					first.CompareAndSwap(nil, err.Error())
				}
			}
		})
	}
	readers.Wait()
	if text, ok := first.Load().(string); ok {
		progress("  lost: %s", text)
	}
	return int(lost.Load()), ctx.Err()
}

// keepPutting has writers put items until the returned function is called, which waits for them.
func (l *ledger) keepPutting(ctx context.Context, c *dynamodb.Client, writers int, pause time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ending := make(chan struct{})
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for {
				l.put(ctx, c)
				select {
				case <-ending:
					return
				case <-ctx.Done():
					return
				case <-time.After(pause):
				}
			}
		})
	}
	return sync.OnceFunc(func() {
		close(ending) // what is under way is waited for, so that its answer counts
		all.Wait()
		cancel()
	})
}
