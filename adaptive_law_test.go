package heatsink

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/layout"
)

// Adaptive.Target moves the rates with it from which a key grows, and below which growth is futile.
func TestTargetMovesTheLimits(t *testing.T) {
	body := strings.Repeat("x", 20*1024-200)
	for name, throttled := range map[string]bool{"more than the target": false, "throttled at the target": true} {
		bubble.Test(t, func(t *testing.T) {
			var made decided
			client := Client(faulty.On(t, onItems(t), nil))
			pause := 400 * time.Millisecond // 250 units a second
			if throttled {
				client = &tooFast{Client: client.(*faulty.Client), reason: "TableWriteKeyRangeThroughputExceeded"}
				pause = time.Second // 100 units a second
			}
			c := openItems(t, client, Options{
				Adaptive: &Adaptive{Target: 100, Decided: made.take}, Retry: Retry{Base: time.Microsecond, Budget: 10, Burst: 1 << 20},
			})
			for n := range int(30 * time.Second / pause) {
				var items []Item
				for i := range 5 {
					items = append(items, ov("pk", "k", "sk", fmt.Sprint(n, ".", i), "b", body))
				}
				if err := c.BatchPut(t.Context(), items); err != nil {
					t.Fatal(err)
				}
				time.Sleep(pause)
			}
			if got := made.reasons("k"); !slices.Contains(got, "grow") {
				t.Errorf("%s: decided %v, want grow", name, got)
			}
		})
	}
}

// A batch that is throttled looks whether others have made the key wider, as a Put does.
func TestThrottledBatchLooks(t *testing.T) {
	direct := onItems(t)
	widen(t, openItems(t, direct, adaptive()), "k", 8)
	client := &tooFast{Client: faulty.On(t, direct, nil), reason: "TableWriteKeyRangeThroughputExceeded"}
	c := openItems(t, client, adaptive(func(o *Options) { o.Retry = Retry{Base: time.Microsecond} }))
	if err := c.BatchPut(t.Context(), []Item{ov("pk", "k", "sk", "1")}); err != nil {
		t.Fatal(err)
	}
	if w, _ := c.core.book.Known("k", time.Time{}); w.Write != 8 {
		t.Errorf("it knows of %d shards, want 8", w.Write)
	}
}

// A time bucket begins wide as well if the one before it was written in batches.
func TestBatchesGiveHints(t *testing.T) {
	client := onItems(t)
	c := openItems(t, client, adaptive(func(o *Options) {
		o.Layout.Bucket, o.EventTime = layout.Day, EventTime{Attribute: "at", Unit: UnixSeconds}
	}))
	if _, err := c.Ledgers().Grow(t.Context(), "k", baseTime, 16, "a test"); err != nil {
		t.Fatal(err)
	}
	for _, hour := range []int{1, 23} {
		at := baseTime.Add(time.Duration(hour) * time.Hour)
		if err := c.BatchPut(t.Context(), []Item{ov("pk", "k", "sk", fmt.Sprint(hour), "at", int(at.Unix()))}); err != nil {
			t.Fatal(err)
		}
	}
	if l, err := c.Ledgers().Show(t.Context(), "k", baseTime.AddDate(0, 0, 1)); err != nil || l.Width.Write != 8 {
		t.Errorf("the next day begins with %d shards, %v, want 8", l.Width.Write, err)
	}
}
