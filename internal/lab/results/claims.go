package results

import (
	"fmt"
	"math"
	"strings"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/lab/report"
	"github.com/heatsink-go/heatsink/internal/lab/simulate"
)

// served lists what runs serve.
func served(layouts ...string) func(r runs) string {
	return func(r runs) string {
		var list []string
		for _, name := range layouts {
			list = append(list, fmt.Sprintf("%s: %s units/s", name, figure.Thousands(r[name].ServedUnits)))
		}
		return strings.Join(list, "; ")
	}
}

// failing lists how much of the operations of runs fails.
func failing(layouts ...string) func(r runs) string {
	return func(r runs) string {
		var list []string
		for _, name := range layouts {
			list = append(list, fmt.Sprintf("%s: %s failed", name, report.Percent(r[name].FailedShare())))
		}
		return strings.Join(list, "; ")
	}
}

// percentile lists a percentile of two runs.
func percentile(of func(p *simulate.Percentiles) string, layouts ...string) func(r runs) string {
	return func(r runs) string {
		var list []string
		for _, name := range layouts {
			list = append(list, of(r[name].Latency))
		}
		return strings.Join(list, " and ")
	}
}

// onPartitions is how many partitions serve a run that offers each of them too much.
func onPartitions(r runs, layout string) int { return int(math.Round(r[layout].ServedUnits / 1000)) }

// near reports whether a run serves so many units, within 3 %.
func near(r *simulate.Run, units float64) bool {
	return r.ServedUnits > 0.97*units && r.ServedUnits < 1.03*units
}

// claims returns all claims, in the order of the page.
func claims() []claim {
	return append(append(limits(), causes()...), growth()...)
}

const (
	notPartitions = "shards are not partitions: keys fall on partitions by a hash, and several share one; a new table has four"
	oneSecond     = "the limit is one of each second, and all writes of today go to one key"
)

// limits are claims about throughput, latency and cost.
func limits() []claim {
	return []claim{
		{
			"throughput", "003", "a single key: 1,000 WCU, frequent throttling", served("one key, 4 partitions", "one key, 100 partitions"), right,
			func(r runs) bool {
				return near(r["one key, 4 partitions"], 1000) && near(r["one key, 100 partitions"], 1000)
			},
			"more partitions do not help one key",
		},
		{
			"throughput", "000, 003", "10 shards: 10,000 WCU, rare throttling", served("10 suffixes, 4 partitions", "10 suffixes, 10 partitions", "10 suffixes, 100 partitions"), partly,
			func(r runs) bool {
				return near(r["10 suffixes, 4 partitions"], 4000) && r["10 suffixes, 10 partitions"].ServedUnits < 9000
			}, notPartitions,
		},
		{
			"throughput", "000, 003", "100 shards: 100,000 WCU, very rare throttling", served("100 suffixes, 4 partitions", "100 suffixes, 100 partitions"), wrong,
			func(r runs) bool { return r["100 suffixes, 100 partitions"].ServedUnits < 80000 }, notPartitions,
		},
		{
			"throughput", "000, 003", "100 shards: 100,000 WCU, very rare throttling", served("heatsink, 100 shards, 100 partitions", "heatsink, 100 shards, 100 partitions, no retries"), wrong,
			func(r runs) bool {
				ours := r["heatsink, 100 shards, 100 partitions"].ServedUnits
				return onPartitions(r, "heatsink, 100 shards, 100 partitions") == 62 && onPartitions(r, "heatsink, 100 shards, 100 partitions, no retries") == 62 &&
					onPartitions(r, "100 suffixes, 100 partitions") == 64 && ours < 63000
			},
			"each partition with a shard serves 1,000. Keys that are spelled otherwise have other hashes: those with suffixes by hand are on 64 of the 100 partitions, and heatsink's on 62. Retries change nothing here",
		},
		{
			"throughput", "003", "10 to 100 times the throughput", func(r runs) string {
				one := r["one key, 4 partitions"].ServedUnits
				return fmt.Sprintf("%.0f to %.0f times with 10 shards, up to %.0f times with 100", r["10 suffixes, 4 partitions"].ServedUnits/one,
					r["10 suffixes, 100 partitions"].ServedUnits/one, r["100 suffixes, 100 partitions"].ServedUnits/one)
			}, partly, func(r runs) bool {
				return r["100 suffixes, 100 partitions"].ServedUnits < 80*r["one key, 4 partitions"].ServedUnits
			}, notPartitions,
		},
		{
			"cardinality", "003", "a key of high cardinality: unlimited, no throttling", served("4 partitions, a new table", "100 partitions"), wrong,
			func(r runs) bool {
				return near(r["4 partitions, a new table"], 4000) && r["100 partitions"].ServedUnits < 44000
			},
			"a new table serves 4,000 until it has split, and a quota of 40,000 units holds on demand; a second of it was saved up",
		},
		{
			"latency", "003", "P50 is 50 ms hot, 10 ms distributed", percentile(func(p *simulate.Percentiles) string { return report.Millis(p.P50) }, "one key", "heatsink, 10 shards"), partly,
			func(r runs) bool { return r["one key"].Latency.P50 > r["heatsink, 10 shards"].Latency.P50 },
			"it depends on how far above the limit the load is: most first attempts still pass at 18 % above",
		},
		{
			"latency", "003", "P99 is 2,000 ms hot, 25 ms distributed", percentile(func(p *simulate.Percentiles) string { return report.Millis(p.P99) }, "one key", "heatsink, 10 shards"), right,
			func(r runs) bool {
				return r["one key"].Latency.P99.Seconds() > 1 && r["heatsink, 10 shards"].Latency.P99.Milliseconds() <= 25
			},
			"the SDK waits up to 2 s before the second attempt and up to 4 s before the third",
		},
		{
			"latency", "003", "P99.9 is 10,000 ms hot, 50 ms distributed", percentile(func(p *simulate.Percentiles) string { return report.Millis(p.P999) }, "one key", "heatsink, 10 shards"), partly,
			func(r runs) bool {
				return r["one key"].Latency.P999.Seconds() < 7 && r["heatsink, 10 shards"].Latency.P999.Milliseconds() <= 50
			},
			"after three attempts the SDK gives up, at 6 s the latest: what would take longer is an error",
		},
		{
			"latency", "003", "15 % errors hot, less than 0.1 % distributed", failing("one key", "heatsink, 10 shards"), right,
			func(r runs) bool {
				return r["one key"].FailedShare() > 0.1 && r["one key"].FailedShare() < 0.2 && r["heatsink, 10 shards"].FailedShare() < 0.001
			},
			"suffixes made by hand are as good as heatsink here: ten shards are enough, and nothing is throttled",
		},
		{
			"cost", "003", "of 10,000 WCU 9,000 are wasted: $4,500 a month at $0.50", func(r runs) string {
				used := r["one key"].ServedUnits
				return fmt.Sprintf("%s units/s of 10,000 are used; the other %s cost $%s a month at $0.50, and $%s at the list price of $0.00065 an hour",
					figure.Thousands(used), figure.Thousands(10000-used), figure.Thousands((10000-used)*0.50), figure.Thousands((10000-used)*0.00065*730))
			}, right, func(r runs) bool { return near(r["one key"], 1000) },
			"with shards the same table serves the whole load",
		},
		{
			"on-demand", "001", "on-demand billing does not scale within a partition: one key is held to 1,000 WCU", served("one key"), right,
			func(r runs) bool { return near(r["one key"], 1000) }, "no capacity mode lifts the 1,000 write units of a partition",
		},
		{
			"on-demand", "001, 004", "adaptive capacity boosts a hot partition by borrowing from others, after a delay", func(r runs) string {
				return fmt.Sprintf("one key: %d partitions after 20 minutes; 4 shards: %d", r["one key"].PartitionsAtEnd, r["heatsink, 4 shards"].PartitionsAtEnd)
			}, partly, func(r runs) bool { return r["one key"].PartitionsAtEnd == r["one key"].Partitions },
			"it is instant, and never lifts the 1,000 of a partition; what comes after minutes is a split, which does not help items whose sort key rises with time",
		},
	}
}

// causes are claims about why keys are hot.
func causes() []claim {
	return []claim{
		{
			"cause-low-cardinality", "003", "STATUS#ACTIVE with 99 % of the users is hot", failing("as it is", "heatsink, 10 shards", "heatsink, adaptive"), right,
			func(r runs) bool {
				return r["as it is"].FailedShare() > 0.5 && r["heatsink, 10 shards"].FailedShare() < 0.001
			},
			"an adaptive key is throttled until it has grown, which takes some seconds",
		},
		{
			"cause-time-key", "001, 004", "with a key for each day, the limit applies per day, and today's partition is no hot spot", served("one key", "a key for each day"), wrong,
			func(r runs) bool { return near(r["a key for each day"], 1000) }, oneSecond,
		},
		{
			"cause-time-key", "003, 004", "a date and shards spread it", served("a key for each day, 10 shards"), right,
			func(r runs) bool { return r["a key for each day, 10 shards"].FailedShare() == 0 }, "also across midnight, when all shards change",
		},
		{
			"cause-popular-item", "003", "a viral post throttles its readers", failing("one item", "heatsink, 10 copies"), right,
			func(r runs) bool {
				return r["one item"].FailedShare() > 0.1 && r["heatsink, 10 copies"].FailedShare() < 0.001
			},
			"copies of the item, one in each shard, spread its readers; a cache does as well",
		},
		{
			"cause-global-counter", "003", "a global counter is a hot item", served("one item", "heatsink, 10 shards"), right,
			func(r runs) bool { return near(r["one item"], 1000) && r["heatsink, 10 shards"].FailedShare() < 0.001 }, "see package counter",
		},
		{
			"suffixes", "002", "a random suffix of 200 spreads the load", failing("the date alone", "a random suffix of 200"), right,
			func(r runs) bool { return r["a random suffix of 200"].FailedShare() == 0 },
			"each read of a day then pays for 200 queries; 20 shards serve the same load here",
		},
		{
			"suffixes", "002", "the product of an id's code points is fairly even", failing("200, by the product", "200, by xxhash"), wrong,
			func(r runs) bool {
				return r["200, by the product"].FailedShare() > 0.5 && r["200, by xxhash"].FailedShare() == 0
			},
			"200 is 2³·5², and products of many numbers are multiples of it: all these ids get suffix 1",
		},
		{
			"index", "001", "read everything through one index key, since reads are less critical", served("constant index key"), wrong,
			func(r runs) bool { return near(r["constant index key"], 1000) },
			"each write also writes the index; what its one partition refuses is refused to the table",
		},
		{
			"index-sharded", "003", "spread the index attribute over ten shards", served("index key over 10 shards"), right,
			func(r runs) bool { return r["index key over 10 shards"].FailedShare() == 0 },
			"its readers must then ask all ten: document 003 asks one of them, and sees a tenth",
		},
	}
}

// growth are claims about loads that change.
func growth() []claim {
	return []claim{
		{
			"adaptive", "004", "one user takes 10,000 write units a second, while others are idle", failing("one key", "10 suffixes by hand", "heatsink, 10 shards", "heatsink, adaptive"), right,
			func(r runs) bool {
				return r["one key"].FailedShare() > 0.8 && r["heatsink, adaptive"].FailedShare() < 0.1
			},
			"ten shards are too few on these partitions; the adaptive key fails only while it grows",
		},
		{
			"tenants", "004", "a large tenant is a hot key", failing("as it is", "heatsink, 5 shards for each", "heatsink, adaptive"), right,
			func(r runs) bool {
				return r["as it is"].FailedShare() > 0.1 && r["heatsink, 5 shards for each"].FailedShare() < 0.001
			},
			"five shards for each make every small tenant cost five queries; adaptive ones widen the large tenant alone",
		},
	}
}
