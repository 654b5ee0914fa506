package counter

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/local"
)

// aTable starts an engine with a table of counters and returns a client whose requests may go wrong.
func aTable(t testing.TB) *faulty.Client {
	t.Helper()
	client := local.Start(t).Client()
	if err := Setup(context.Background(), client, Options{Table: "counters"}); err != nil {
		t.Fatal(err)
	}
	return faulty.On(t, client, nil)
}

// open opens counters in the table of aTable, and closes them when the test ends. A Retention may be short: requests
// are late as the test has it.
func open(t testing.TB, client Client, options Options) *Counter {
	t.Helper()
	options.Table = "counters"
	options = options.withDefaults()
	checked := options
	checked.Retention = max(checked.Retention, minRetention)
	if err := checked.validate(); err != nil {
		t.Fatal(err)
	}
	c, err := newCounter(client, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Close(ctx); err != nil && !errors.Is(err, ErrClosed) {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

// mustAdd adds, and fails the test if that does.
func mustAdd(t testing.TB, c *Counter, key string, deltas ...int64) {
	t.Helper()
	for _, delta := range deltas {
		if err := c.Add(context.Background(), key, delta); err != nil {
			t.Fatal(err)
		}
	}
}

// isTotal checks a total.
func isTotal(t testing.TB, c *Counter, key string, want int64) {
	t.Helper()
	if got, err := c.Total(context.Background(), key); err != nil || got != want {
		t.Fatalf("total of %s: got %d, %v, want %d", key, got, err, want)
	}
}

// crash ends a counter as a killed process would: nothing more is sent.
func crash(c *Counter) {
	c.cancel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.Close(ctx)
}
