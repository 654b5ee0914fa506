package main

import (
	"fmt"
	"slices"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// claim is a sentence or two of the document, and whether the figures bear it out.
type claim struct {
	text  string
	holds bool
}

// claims are what the document says in words, for and against heatsink.
func (r *results) claims() []claim {
	return slices.Concat(r.belowClaims(), r.aboveClaims(), r.spreadClaims(), r.readClaims(), r.faultClaims())
}

// The loads, as claims name them.
const half, most, over = 0.5, 0.9, 1.1

// belowClaims are about loads that the table could take.
func (r *results) belowClaims() []claim {
	one, suffix, random := r.load(oneKey, half), r.load(suffixRandom, most), r.load(heatsinkRandom, most)
	theirs, ours := r.load(suffixHashed, most), r.load(heatsinkHashed, most)
	next, equal, same := r.load(suffixNext, most), true, true
	for _, share := range shares {
		with, without := r.load(suffixTimed, share), r.load(suffixRandom, share)
		same = same && with.Offered > 0 && with.Failed == without.Failed && with.P99 == without.P99
	}
	for _, c := range []string{suffixRandom, suffixHashed, suffixFew, heatsinkRandom, heatsinkHashed, heatsinkFew} {
		l := r.load(c, half)
		equal = equal && l.Offered > 0 && l.Failed == 0 && l.P99 == r.load(suffixRandom, half).P99
	}
	return []claim{
		{
			fmt.Sprintf("**No shards.** The key has one partition, whatever the table has: %s of the writes fail at half of the table's capacity. A key below 1,000 WCU/s needs no shards.",
				percent(one.Failed, one.Offered)),
			one.Failed > one.Offered/3 && one.Offered > 0,
		},
		{
			fmt.Sprintf("**At half of the capacity, hand-made suffixes are as good as heatsink.** No write fails, and the 99th percentile is %s. That holds for 16 suffixes and for 200, random or calculated.",
				millis(r.load(suffixRandom, half).P99)),
			equal,
		},
		{
			fmt.Sprintf("**At 0.9, random suffixes wait and heatsink does not.** The SDK sends a throttled write to the same suffix again, after up to 2 and then 4 seconds. heatsink sends it to another shard within milliseconds. %s of the writes fail with the SDK, and %s with heatsink. The 99th percentile is %s against %s.",
				percent(suffix.Failed, suffix.Offered), percent(random.Failed, random.Offered), millis(suffix.P99), millis(random.P99)),
			suffix.Failed > random.Failed && suffix.P99 > 10*random.P99,
		},
		{
			fmt.Sprintf("**The SDK's retries of 2026 wait a little less.** `AWS_NEW_RETRIES_2026=true` switches them on, and AWS has announced them as the default. They make 4 attempts and wait up to 1, 2 and 4 seconds. At 0.9, %s of the writes to random suffixes fail with them, and the 99th percentile is %s.",
				percent(next.Failed, next.Offered), millis(next.P99)),
			next.P99 < suffix.P99 && next.P99 > 10*random.P99,
		},
		{
			"**An HTTP timeout of a second changes nothing under load**: all answers come in time. It matters for faults.",
			same,
		},
		{
			fmt.Sprintf("**With calculated shards, the SDK fails less and waits longer.** No other shard can take such a write. At 0.9 the SDK fails %s of them and heatsink %s, because heatsink retries sooner and within a budget. The 99th percentile is %s against %s.",
				percent(theirs.Failed, theirs.Offered), percent(ours.Failed, ours.Offered), millis(theirs.P99), millis(ours.P99)),
			theirs.Failed < ours.Failed && theirs.P99 > 2*ours.P99,
		},
	}
}

// aboveClaims are about loads that the table or the key cannot take at once.
func (r *results) aboveClaims() []claim {
	full, ours := r.load(suffixRandom, over), r.load(heatsinkRandom, over)
	cold, late, apart := r.load(heatsinkAdaptive, most), r.load(heatsinkAdaptive, over), r.load(heatsinkControl, over)
	failed := []int{full.Failed, ours.Failed, r.load(suffixHashed, over).Failed, r.load(heatsinkHashed, over).Failed}
	const must = 1 - 1/over
	return []claim{
		{
			fmt.Sprintf("**At 1.1 nobody stores everything.** %.0f %% of the writes are too many for the table. Every contestant with 200 shards fails %s to %s. The SDK lets callers wait: the 99th percentile of random suffixes is %s, and of heatsink's random shards %s.",
				100*must, percent(slices.Min(failed), full.Offered), percent(slices.Max(failed), full.Offered), millis(full.P99), millis(ours.P99)),
			float64(slices.Max(failed)) < 2*must*float64(full.Offered) && slices.Min(failed) > 0 && full.P99 > 10*ours.P99,
		},
		{
			fmt.Sprintf("**An adaptive key pays for its start.** It has one shard until the load comes, all at once here. At 0.9, %s of the writes fail, all of them in the first %s. Then it has %d shards, and none fails. Before a load that you expect, use `heatsink ledger grow`, or choose fixed shards.",
				percent(cold.Failed, cold.Offered), seconds(cold.Last), cold.Shards),
			cold.Failed > r.load(heatsinkRandom, most).Failed && cold.Last < loadTime.Seconds()/4 && cold.Shards > 1,
		},
		{
			fmt.Sprintf("**Growth itself can be throttled.** It is a write to the key's ledger, a small item that may be on the hot partition as well. Here it is. The write is repeated until it is stored: at 1.1 the key grew after %s, and after %s at 0.9. %s of the writes failed. With a `ControlTable`, ledgers have partitions of their own: the key grew after %s, and %s failed.",
				seconds(late.Grew), seconds(cold.Grew), percent(late.Failed, late.Offered), seconds(apart.Grew), percent(apart.Failed, apart.Offered)),
			late.Grew > cold.Grew && late.Grew < 2*cold.Grew && apart.Grew > 0 && apart.Grew <= late.Grew,
		},
	}
}

func (r *results) spreadClaims() []claim {
	few, many := r.spread(fewShards), r.spread(manyShards)
	theirs, ours := r.load(suffixFew, most), r.load(heatsinkFew, most)
	return []claim{{
		fmt.Sprintf("**Shards are not partitions.** The 16 shards lie unevenly on the four partitions: the busiest has %.0f %% of them, and of the 200 it has %.0f %%. So at 0.9 the 16 suffixes fail %s of their writes with the SDK. heatsink fails %s with the same shards, because it avoids those that are throttled.",
			100*few.busiest(), 100*many.busiest(), percent(theirs.Failed, theirs.Offered), percent(ours.Failed, ours.Offered)),
		few.busiest() > many.busiest() && theirs.Failed > r.load(suffixRandom, most).Failed && ours.Failed*10 < theirs.Failed,
	}}
}

func (r *results) readClaims() []claim {
	one, suffix, whole, ours, adaptive := r.read(oneKey), r.read(suffixRandom), r.read(suffixWhole), r.read(heatsinkRandom), r.read(heatsinkAdaptive)
	wrong := 0
	for _, n := range r.Reads {
		wrong += n.Wrong
	}
	return []claim{
		{
			fmt.Sprintf("**Shards make reads dearer, whoever reads them.** Without shards the newest 50 are %s and %s. With 200 shards they are at least 200 requests.",
				figure.Count(one.Items, "item"), figure.Count(one.Requests, "request")),
			one.Requests == 1 && one.Items == newest && suffix.Requests >= manyShards && ours.Requests >= manyShards,
		},
		{
			fmt.Sprintf("**heatsink reads fewer items.** It asks each shard for as many as it is likely to have of the newest 50, and would ask again where that was too few: %s items here. A query of 50 for each suffix reads %s, and a query of everything %s. All of them return the right 50 items.",
				figure.Thousands(ours.Items), figure.Thousands(suffix.Items), figure.Thousands(whole.Items)),
			wrong == 0 && ours.Items*5 < suffix.Items && suffix.Items < whole.Items,
		},
		{
			fmt.Sprintf("**heatsink queries shards in parallel.** That takes %s. One query after another, as AWS's page tells it, takes %s. Goroutines of your own would be as fast.",
				millis(1000*ours.Seconds), millis(1000*suffix.Seconds)),
			ours.Seconds*5 < suffix.Seconds,
		},
		{
			fmt.Sprintf("**An adaptive key has fewer shards, so its reads cost less**: %s and %s, of which two are for its ledger and for the charter.", figure.Count(adaptive.Items, "item"), figure.Count(adaptive.Requests, "request")),
			adaptive.Requests < ours.Requests/5 && adaptive.Items < ours.Items,
		},
	}
}

func (r *results) faultClaims() []claim {
	lost, brokenTwice := 0, 0
	for _, f := range r.Faults {
		lost += f.Lost
		if f.Fault == broken {
			brokenTwice += f.Doubled
		}
	}
	twice := func(contestant, fault string) int { return r.fault(contestant, fault).Doubled }
	return []claim{
		{
			"**A broken connection doubles nothing, with the SDK or with heatsink.** Both send the same request again, to the same shard. Nobody lost an acknowledged item.",
			lost == 0 && brokenTwice == 0 && len(r.Faults) > 0,
		},
		{
			fmt.Sprintf("**A write that is never answered is doubled by random suffixes**: %d of 100. The SDK waits as long as the caller does. The caller gives up after two seconds and calls Put again, which draws another suffix. heatsink gives up one attempt after `Retry.Timeout` and repeats it in the same shard: %d of 100. Without `Retry.Timeout`, the caller gets an `UnknownOutcomeError`. A second Put then doubles the item, too: %d of 100.",
				twice(suffixRandom, unanswered), twice(heatsinkRandom, unanswered), twice(heatsinkUntimed, unanswered)),
			twice(suffixRandom, unanswered) > 90 && twice(heatsinkRandom, unanswered) == 0 && twice(heatsinkUntimed, unanswered) > 90,
		},
		{
			fmt.Sprintf("**An HTTP timeout does the same for the SDK, if the caller waits long enough.** With one of a second, the SDK sends the request again, to the same suffix, up to two seconds later. A caller that waits two seconds in all doubles %d of 100, and one that waits four doubles %d. The retries of 2026 wait 25 ms at most after such a timeout: %d of 100.",
				twice(suffixTimed, unanswered), twice(suffixPatient, unanswered), twice(suffixNextTimed, unanswered)),
			twice(suffixTimed, unanswered) > 20 && twice(suffixTimed, unanswered) < 80 && twice(suffixPatient, unanswered)+twice(suffixNextTimed, unanswered) == 0,
		},
		{
			fmt.Sprintf("**After a kill, random shards double an item with heatsink as well**: %d of 100, and %d with the SDK. The process that repeats the write cannot know the shard of the first.",
				twice(heatsinkRandom, killed), twice(suffixRandom, killed)),
			twice(heatsinkRandom, killed) > 90 && twice(suffixRandom, killed) > 90,
		},
		{
			fmt.Sprintf("**Calculated shards avoid both, with the SDK or with heatsink**: %d and %d of 100 after a kill. A write that is repeated goes to the same place. If a queue delivers your items, or users press a button twice, calculate the suffix from the item's id.",
				twice(suffixHashed, killed), twice(heatsinkHashed, killed)),
			twice(suffixHashed, killed)+twice(heatsinkHashed, killed)+twice(suffixHashed, unanswered)+twice(heatsinkHashed, unanswered) == 0 && r.fault(heatsinkHashed, killed).Met > 0,
		},
	}
}
