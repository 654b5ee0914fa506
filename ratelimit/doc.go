// Package ratelimit limits how often something may be done by each key, such as an API key, a user or an address, in
// all processes together, on DynamoDB: in a sliding window, in a fixed one, or by tokens.
//
//	limiter, err := ratelimit.Open(client, ratelimit.Options{Table: "limits", Limit: 1000, Window: time.Hour})
//	…
//	d, err := limiter.Allow(ctx, apiKey)
//	if err != nil {
//		log.Print(err) // DynamoDB could not say; d is what the options want then
//	}
//	if !d.Allowed {
//		w.Header().Set("Retry-After", …d.RetryAfter…)
//	}
//
// # What it promises
//
// No more than the limit is let through, whatever number of processes check at once, whatever is throttled, lost or
// late. A check is one conditional update, which counts and compares in one; there is no moment in between.
//
// A check counts at the time it began: when Allow was called, by the clock of its process, not when it returns. That is
// so however slow requests are, and also if a check waits for a lease. A check that begins before a fixed window ends
// is counted in that window, even if it returns in the next. There is one exception: a SlidingWindow counts a check
// that is overtaken by later ones at their time, which is at the latest when it ends.
//
// No less is let through than that, either: what is refused is over the limit. The exceptions are stated where they
// are: the parts of a SlidingWindow; costs above one on several shards (AllowN); a lost answer, after which the check
// is made again and may have been counted twice; leases; and shards of a TokenBucket, of which one that is full
// collects no more while others could.
//
// When DynamoDB cannot say, within Options.Timeout, the decision is what Options.FailOpen wants, has Failed set, and
// comes with an error. Only such a decision lets anything through that was not counted.
//
// # Clocks
//
// Time is that of the process that checks, in UTC. If the clocks of processes differ by up to ε, a sliding window is as
// long as Window give or take ε, and a bucket lets through what comes in ε more, once. Every fixed window keeps its
// limit; which of two a check is in is for the clock to say. A clock that is far ahead makes others wait for that long.
//
// # Hot keys
//
// An item takes 1,000 checks a second. With Shards a key has that many items, each with an exact share of the limit. A
// check asks one at random; when it has no room, all the others are looked at, and one that has some is asked. A
// process remembers which have none until when, so what is over the limit costs nothing for most of the time, sharded
// or not.
//
// With a Lease a process takes several at a time and lets them through from memory: the hotter the key the more, up to
// Lease. What it has taken is counted at once, so no more than the limit is let through, but for a TokenBucket: in any
// stretch of time T it may be what comes in LeaseFor more. What lapses unused was counted for nothing: at most half of
// what was counted, and Lease - 1 of each process at a time, plus what callers asked for who gave up.
//
// # What it costs
//
// A check costs one request and one write unit, let through or refused, and nothing if it is remembered to be refused.
// The first check in a slot of a SlidingWindow, and the first of a SlidingLog, cost one more of both; so does that of a
// TokenBucket that others have used meanwhile. A SlidingLog costs a unit for about every hundred of its share of the
// limit. On the last of its limit a key of N shards costs N - 1 reads of half a unit as well. A key of more than a
// kilobyte costs what it is long. Peek reads a unit, and Reset writes one, for each shard.
//
// # Items
//
//	pk                       sk                                      attributes
//	RATE_LIMIT#key#SHARD_7   sliding#1h0m0s#20                       slot, slots, sum, ttl
//	RATE_LIMIT#key#SHARD_7   fixed#1h0m0s#2024-12-02T15:00:00.000Z   n, ttl
//	RATE_LIMIT#key#SHARD_7   log#1h0m0s                              t, ttl
//	RATE_LIMIT#key#SHARD_7   bucket#1h0m0s                           full, ttl
//
// DynamoDB deletes them a day after their last use. The table must be in one region: replicas of a global table would
// each let the limit through.
//
// Another Shards, Window or Algorithm starts counting anew, so that while it is introduced twice the limit may come,
// once; another Limit goes on from what was counted.
package ratelimit
