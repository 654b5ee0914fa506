package ratelimit_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/local"
	"github.com/heatsink-go/heatsink/ratelimit"
)

func TestOptionsAreValidated(t *testing.T) {
	client := local.Start(t).Client()
	good := ratelimit.Options{Table: "limits", Limit: 100}
	for _, c := range []struct {
		want string
		edit func(*ratelimit.Options)
	}{
		{"Table is empty", func(o *ratelimit.Options) { o.Table = "" }},
		{"Limit is 0", func(o *ratelimit.Options) { o.Limit = 0 }},
		{"Limit is -3", func(o *ratelimit.Options) { o.Limit = -3 }},
		{"Limit is 1000000001", func(o *ratelimit.Options) { o.Limit = 1_000_000_001 }},
		{"Window is -1s", func(o *ratelimit.Options) { o.Window = -time.Second }},
		{"Window is 1.5ms", func(o *ratelimit.Options) { o.Window = 1500 * time.Microsecond }},
		{"Window is 9600h", func(o *ratelimit.Options) { o.Window = 400 * 24 * time.Hour }},
		{"Algorithm is Algorithm(7), want", func(o *ratelimit.Options) { o.Algorithm = 7 }},
		{"Slots is 101", func(o *ratelimit.Options) { o.Slots = 101 }},
		{"Slots is set, but the algorithm is a fixed window", func(o *ratelimit.Options) { o.Algorithm, o.Slots = ratelimit.FixedWindow, 5 }},
		{"Burst is set, but the algorithm is a sliding window", func(o *ratelimit.Options) { o.Burst = 5 }},
		{"Burst is -1", func(o *ratelimit.Options) { o.Algorithm, o.Burst = ratelimit.TokenBucket, -1 }},
		{"at most one token per nanosecond", func(o *ratelimit.Options) {
			o.Algorithm, o.Limit, o.Window = ratelimit.TokenBucket, 1e9, time.Millisecond
		}},
		{"the bucket takes 1000000000 hours to fill", func(o *ratelimit.Options) { o.Algorithm, o.Limit, o.Burst = ratelimit.TokenBucket, 1, 1e9 }},
		{"a Limit of 2001 needs 3 shards", func(o *ratelimit.Options) { o.Algorithm, o.Limit = ratelimit.SlidingLog, 2001 }},
		{"Shards is 257", func(o *ratelimit.Options) { o.Shards = 257 }},
		{"Shards is -1", func(o *ratelimit.Options) { o.Shards = -1 }},
		{"Name has 129 bytes", func(o *ratelimit.Options) { o.Name = strings.Repeat("n", 129) }},
		{"Timeout is -1ns, want 0 or more", func(o *ratelimit.Options) { o.Timeout = -1 }},
		{"Memory is -1, want 0 or more", func(o *ratelimit.Options) { o.Memory = -1 }},
		{"Keep is -1ns, want 0 or more", func(o *ratelimit.Options) { o.Keep = -1 }},
		{"Lease is -1, want 0 or more", func(o *ratelimit.Options) { o.Lease = -1 }},
		{"LeaseFor is set without a Lease", func(o *ratelimit.Options) { o.LeaseFor = time.Second }},
		{"LeaseFor is 2h0m0s", func(o *ratelimit.Options) { o.Lease, o.LeaseFor = 5, 2*time.Hour }},
		{"LeaseFor is -1s", func(o *ratelimit.Options) { o.Lease, o.LeaseFor = 5, -time.Second }},
		{"Lease is 101, but a SlidingLog", func(o *ratelimit.Options) { o.Algorithm, o.Lease = ratelimit.SlidingLog, 101 }},
		{`attribute "pk" is used twice`, func(o *ratelimit.Options) { o.SortKey = "pk" }},
		{`attribute "slots" is used twice`, func(o *ratelimit.Options) { o.TTL = "slots" }},
		{"negative", func(o *ratelimit.Options) { o.Retry.Attempts = -1 }},
	} {
		options := good
		c.edit(&options)
		_, err := ratelimit.Open(client, options)
		if !errors.Is(err, ratelimit.ErrOptions) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want it to say %q", err, c.want)
		}
	}
	if _, err := ratelimit.Open(nil, good); !errors.Is(err, ratelimit.ErrOptions) {
		t.Errorf("no client: got %v", err)
	}
	_, err := ratelimit.Open(client, ratelimit.Options{Shards: 300})
	for _, fault := range []string{"Table", "Limit", "Shards"} {
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("got %v, want every fault at once, %s too", err, fault)
		}
	}
	if err := ratelimit.Setup(t.Context(), client, ratelimit.Options{}); !errors.Is(err, ratelimit.ErrOptions) {
		t.Errorf("setup: got %v", err)
	}
}

// The greatest numbers that options take do not overflow anything.
func TestTheGreatestOptions(t *testing.T) {
	client := start(t)
	for name, options := range everyAlgorithm(1_000_000_000, 256) {
		options.Window = 366 * 24 * time.Hour
		if options.Algorithm == ratelimit.SlidingLog {
			options.Limit = 256_000
		}
		limiter := open(t, client, options)
		for range 3 {
			if d := allow(t, limiter, name); !d.Allowed {
				t.Errorf("%s: got %v", name, d)
			}
		}
		if options.Algorithm != ratelimit.SlidingLog {
			if d := allowN(t, limiter, name, 3_000_000); !d.Allowed {
				t.Errorf("%s: got %v", name, d)
			}
		}
	}
}
