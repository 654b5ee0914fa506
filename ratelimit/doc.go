// Package ratelimit limits how often each key may do something, over all processes, on DynamoDB. A key is an API key, a
// user or an address. The limit is for a sliding window, a fixed window or a token bucket.
//
//	limiter, err := ratelimit.Open(client, ratelimit.Options{Table: "limits", Limit: 1000, Window: time.Hour})
//	…
//	d, err := limiter.Allow(ctx, apiKey)
//	if err != nil {
//		log.Print(err) // DynamoDB did not answer; d follows Options.FailOpen
//	}
//	if !d.Allowed {
//		w.Header().Set("Retry-After", …d.RetryAfter…)
//	}
//
// # What it promises
//
// A limiter never allows more than the limit, for any number of concurrent processes, and whatever is throttled, lost
// or late. A check is one conditional update that compares and counts atomically.
//
// A check counts at the time when Allow was called, by the clock of its process. That holds for slow requests and for
// checks that wait for a lease. A check that begins before a fixed window ends counts in that window, even if it
// returns in the next. There is one exception: if later checks overtake a check in a SlidingWindow, it counts at their
// time, at the latest when it ends.
//
// A limiter also does not allow less: a refused check is over the limit. The exceptions are documented with each
// feature:
//
// - the slots of a SlidingWindow
// - costs above one with several shards (AllowN)
// - a lost answer, after which the check is repeated and may be counted twice
// - leases
// - shards of a TokenBucket: a full shard collects no more tokens while others could
//
// If DynamoDB does not answer within Options.Timeout, the decision follows Options.FailOpen, has Failed set, and comes
// with an error. Only such a decision can allow something that was not counted.
//
// # Clocks
//
// Time is the clock of the checking process, in UTC. If the clocks of processes differ by up to ε, a sliding window is
// up to ε longer or shorter than Window. A bucket allows once what it collects in ε more. Every fixed window keeps its
// limit, and the clock decides which window a check belongs to. A clock that is far ahead makes other processes wait
// for that long.
//
// # Hot keys
//
// One item serves 1,000 checks per second. With Shards, a key has that many items, each with an exact share of the
// limit. A check tries a random shard. If that shard has no room, the check reads all others and tries one that has. A
// process remembers which shards are full, and until when. Checks over the limit therefore usually cost nothing, with
// or without shards.
//
// With a Lease, a process takes several permits at a time and allows checks from memory. The hotter the key, the more
// it takes, up to Lease. Leased permits are counted at once, so the limit still holds. A TokenBucket is the exception:
// in any time T it may allow what it collects in T + LeaseFor. Permits that lapse unused were counted for nothing. They
// are at most half of what was counted, and at most Lease - 1 per process at a time, plus those of callers that gave
// up.
//
// Shards do not adapt to the load. Each shard has an exact share of the limit, so all processes must know the same number:
// one that knows another would allow more than the limit. A Lease does adapt: the hotter the key, the more a request takes.
// Limiters may share a table with an adaptive collection.
//
// # What it costs
//
// A check costs one request and one write unit, whether it is allowed or refused. It costs nothing if the process
// remembers that the key is refused. The first check in a slot of a SlidingWindow, and the first of a SlidingLog, cost
// one request and one unit more. So does a check of a TokenBucket that other processes have used meanwhile. A
// SlidingLog costs one unit for about every hundred of its share of the limit. When a key with N shards is close to its
// limit, a check also costs N - 1 reads of half a unit. A key of more than a kilobyte costs one unit per kilobyte. Peek
// reads one unit per shard, and Reset writes one per shard.
//
// # Items
//
//	pk                       sk                                      attributes
//	RATE_LIMIT#key#SHARD_7   sliding#1h0m0s#20                       slot, slots, sum, ttl
//	RATE_LIMIT#key#SHARD_7   fixed#1h0m0s#2024-12-02T15:00:00.000Z   n, ttl
//	RATE_LIMIT#key#SHARD_7   log#1h0m0s                              t, ttl
//	RATE_LIMIT#key#SHARD_7   bucket#1h0m0s                           full, ttl
//
// DynamoDB deletes items a day after their last use. The table must be in one region: each replica of a global table
// would allow the whole limit.
//
// Changing Shards, Window or Algorithm starts a new count, so that during the change up to twice the limit may be
// allowed, once. Changing Limit keeps the count.
package ratelimit
