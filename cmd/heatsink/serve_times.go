package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/heatsink-go/heatsink/internal/engine"
)

// serveTimes are the times that DynamoDB takes for something, which tests may not
// want to wait for, or want to see. Zero: the engine's default.
type serveTimes struct {
	status, shard, iterator, token, transaction, ttl time.Duration
}

func (t *serveTimes) flags(f *pflag.FlagSet) {
	f.DurationVar(&t.status, "status-delay", 0, "time that a new table is CREATING, a changed one UPDATING and a deleted one DELETING, likewise indexes, such as 5s (default: none)")
	f.DurationVar(&t.shard, "shard-duration", 0, "time after which a child replaces a stream's open shard (default 4h)")
	f.DurationVar(&t.iterator, "iterator-life", 0, "time that a shard iterator can be used (default 15m)")
	f.DurationVar(&t.token, "token-life", 0, "time that a transaction's ClientRequestToken is recognized (default 10m)")
	f.DurationVar(&t.ttl, "ttl-interval", 0, "time between two searches for expired items, which stay that long at most; DynamoDB may take days (default 1s)")
	f.DurationVar(&t.transaction, "transaction-time", 0, "time that a transaction holds its items, so that others get a TransactionConflict, such as 20ms (default: microseconds)")
}

// faults returns an error that names every flag whose time cannot be used.
func (t *serveTimes) faults(f *pflag.FlagSet) error {
	var faults []error
	for _, flag := range []struct {
		name        string
		value       time.Duration
		none        bool // whether no time is a time
		least, most time.Duration
	}{
		{"status-delay", t.status, true, 0, engine.LongestTime},
		{"shard-duration", t.shard, false, engine.ShortestShard, engine.LongestTime},
		{"iterator-life", t.iterator, false, 0, engine.LongestTime},
		{"token-life", t.token, false, 0, engine.LongestTime},
		{"ttl-interval", t.ttl, false, 0, engine.LongestTime},
		{"transaction-time", t.transaction, true, 0, engine.LongestTransaction},
	} {
		switch {
		case flag.value < 0 || flag.value == 0 && !flag.none && f.Changed(flag.name):
			faults = append(faults, fmt.Errorf("--%s %v: want a positive time such as 30s; leave the flag out for the default", flag.name, flag.value))
		case flag.value > 0 && flag.value < flag.least:
			faults = append(faults, fmt.Errorf("--%s %v: want a time of at least %v", flag.name, flag.value, flag.least))
		case flag.value > flag.most:
			faults = append(faults, fmt.Errorf("--%s %v: want a time of at most %v", flag.name, flag.value, flag.most))
		}
	}
	return errors.Join(faults...)
}

func (t *serveTimes) set(o *engine.Options) {
	o.StatusDelay, o.ShardDuration, o.IteratorLife, o.TokenLife = t.status, t.shard, t.iterator, t.token
	o.TransactionTime, o.TTLInterval = t.transaction, t.ttl
}
