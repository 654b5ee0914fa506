package main

import (
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// Times that cannot be used are refused, all of them at once.
func TestServeRefusesTimes(t *testing.T) {
	t.Parallel()
	_, stderr, code := command(t, "serve", "--addr", "127.0.0.1:0", "--status-delay", "-1s", "--shard-duration", "0s", "--iterator-life", "-1m", "--token-life", "0s", "--transaction-time", "61s", "--ttl-interval", "0s")
	for _, want := range []string{
		"--status-delay -1s: want a positive time such as 30s; leave the flag out for the default",
		"--shard-duration 0s: want a positive time", "--iterator-life -1m0s: want a positive time", "--token-life 0s: want a positive time",
		"--ttl-interval 0s: want a positive time", "--transaction-time 1m1s: want a time of at most 1m0s\n",
	} {
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("exit %d, stderr %q; want %q", code, stderr, want)
		}
	}
	_, stderr, code = command(t, "serve", "--addr", "127.0.0.1:0", "--shard-duration", "9ms")
	if want := "--shard-duration 9ms: want a time of at least 10ms"; code == 0 || !strings.Contains(stderr, want) {
		t.Errorf("exit %d, stderr %q; want %q", code, stderr, want)
	}
	// A token that is remembered for 292 years would overflow its date.
	_, stderr, code = command(t, "serve", "--addr", "127.0.0.1:0", "--token-life", "2562047h")
	if want := "--token-life 2562047h0m0s: want a time of at most 8760h0m0s"; code == 0 || !strings.Contains(stderr, want) {
		t.Errorf("exit %d, stderr %q; want %q", code, stderr, want)
	}
}

// The times that flags give reach the engine.
func TestServeTimesArrive(t *testing.T) {
	times := serveTimes{status: 1, shard: 2, iterator: 3, token: 4, transaction: 5, ttl: 6}
	var o engine.Options
	times.set(&o)
	if o.StatusDelay != 1 || o.ShardDuration != 2 || o.IteratorLife != 3 || o.TokenLife != 4 || o.TransactionTime != 5 || o.TTLInterval != 6 {
		t.Errorf("got %+v", o)
	}
	flags := newServe().Flags()
	for _, name := range []string{"status-delay", "shard-duration", "iterator-life", "token-life", "transaction-time", "ttl-interval"} {
		if err := flags.Set(name, "7s"); err != nil {
			t.Error(err)
		}
		if d, err := flags.GetDuration(name); err != nil || d != 7*time.Second {
			t.Errorf("--%s: got %v, %v", name, d, err)
		}
	}
}
