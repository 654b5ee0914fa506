package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// heat: scenario 5.
func heat() []Finding {
	const long = time.Hour
	random := rand.New(rand.NewPCG(5, 5))
	// Items of some KB, so that an hour is not so many requests. The table's own
	// capacity is not what limits them.
	measure := func(localIndex bool, size float64, place func(n int) []byte) (*lab, *partition.Set, *Stream) {
		l := newLab()
		table := l.set(partition.Config{
			Resource: "table/hot", Partitions: 1, LocalIndexes: localIndex,
			Capacity: partition.Capacity{Mode: partition.Provisioned, Provisioned: partition.Rate{Read: 4_000, Write: 4_000}},
		})
		return l, table, l.offer(3_000, size, 1, func(n int, c []partition.Charge) { c[0] = partition.Charge{Set: table, Place: place(n), Write: size} })
	}
	spread := func(int) []byte { return Place(fmt.Sprint("user-", random.IntN(10_000)), "") }
	inside := func(int) []byte { return Place("ORDERS", fmt.Sprintf("%012d", random.IntN(1e12))) }

	served := func(title string, localIndex bool, place func(n int) []byte) Finding {
		l, table, load := measure(localIndex, 10, place)
		// Served is when a whole minute passes without a refusal.
		l.RunUntil(long, func() bool { return l.Now().Sub(load.Tally.LastThrottled) >= time.Minute && load.Tally.Requests > 0 })
		view := table.Snapshot(l.Now(), 0)
		f := Finding{
			Case:      title,
			Published: "splits after minutes, and again, until it is served; 8 to 10 minutes to the first",
			Source:    "ATC'22 4.4; dev.to/ndrestone 2020; AWS blog part 2",
		}
		if len(view.Splits) == 0 {
			f.Ours = "never splits"
			return f
		}
		first, all := view.Splits[0].At.Sub(labStart), load.Tally.LastThrottled.Sub(labStart)
		f.Ours = fmt.Sprintf("first split after %s, all served after %s on %d partitions", minutesOf(first), minutesOf(all), len(view.Partitions))
		f.OK = first >= 5*time.Minute && first <= 12*time.Minute && all < long && view.Splits[0].Cause == partition.CauseHeat
		return f
	}
	never := func(title, published, source string, localIndex bool, want partition.Obstacle, place func(n int) []byte) Finding {
		l, table, load := measure(localIndex, 50, place)
		l.Run(long)
		view := table.Snapshot(l.Now(), 0)
		rate := load.Tally.AcceptedUnits / long.Seconds()
		return Finding{
			Case: title, Published: published, Source: source,
			Ours: fmt.Sprintf("%d splits within an hour (%s), %s write units per second", len(view.Splits), view.Partitions[0].Obstacle, figure.Thousands(rate)),
			OK:   len(view.Splits) == 0 && view.Partitions[0].Obstacle == want && near(rate, 1_000, 0.02),
		}
	}
	return []Finding{
		served("keys evenly spread", false, spread),
		served("one collection, sort keys evenly spread", false, inside),
		served("with a local index, keys evenly spread", true, spread),
		never("one single item", "never splits: 1,000", "AWS: bp-partition-key-design", false, partition.SingleItem,
			func(int) []byte { return Place("STOCK", "") }),
		never("one collection, rising sort key", "never usefully: 1,000", "ATC'22 4.4; AWS blog part 3", false, partition.MovingLoad,
			func(n int) []byte { return rising("EVENTS", n) }),
		never("with a local index, one collection, sort keys evenly spread", "never inside the collection: 1,000", "AWS blog part 3; LSI guide",
			true, partition.LocalIndex, inside),
	}
}

func minutesOf(d time.Duration) string { return fmt.Sprintf("%.1f min", d.Minutes()) }

// backPressure: scenario 6.
func backPressure() []Finding {
	l := newLab()
	warm := partition.Capacity{Warm: partition.Rate{Read: 12_000, Write: 20_000}}
	table := l.set(partition.Config{Resource: "table/orders", Capacity: warm})
	index := l.set(partition.Config{Resource: "table/orders/index/by-status", Index: true, Capacity: warm})
	load := l.offer(3_000, 1, 2, func(n int, c []partition.Charge) {
		c[0] = partition.Charge{Set: table, Place: Place(fmt.Sprint("customer-", n%50), fmt.Sprint(n)), Write: 1}
		c[1] = partition.Charge{Set: index, Place: rising("ACTIVE", n), Write: 1}
	})
	l.Run(time.Second)
	load.Tally.Reset()
	l.Run(time.Minute)
	rate := load.Tally.AcceptedUnits / 60
	named := partition.Admit(l.Now(), load.Request(0)...) // the index owes: this one is refused
	resource := ""
	if named != nil {
		resource = named.Reasons()[0].Resource()
	}
	return []Finding{{
		Case:      "3,000 write units per second",
		Published: "the index holds the table to 1,000; IndexWriteKeyRangeThroughputExceeded with the index's ARN",
		Source:    "AWS: gsi-throttling",
		Ours:      fmt.Sprintf("%s write units per second, the rest %s on %s", figure.Thousands(rate), reasonsOf(&load.Tally), resource),
		OK:        near(rate, 1_000, 0.02) && only(&load.Tally, partition.IndexWriteKeyRangeThroughputExceeded) && resource == index.Resource(),
	}}
}

// ballsInBins: scenario 7. The figures are those of 20 balls in 20 bins: M is the
// number of shards on the fullest partition, a uniform choice of shards serves
// 1,000 × 20/M, and a choice that avoids throttled shards 1,000 for each partition
// that has any.
func ballsInBins() []Finding {
	const layouts, shards = 200, 20
	var fullest []int
	aware, predicted := 0.0, 0
	for layout := range layouts {
		m, uniform, occupied := shardLayout(layout, shards)
		fullest = append(fullest, m)
		aware += occupied
		if uniform {
			predicted++
		}
	}
	slices.Sort(fullest)
	aware /= layouts
	median, p99 := fullest[layouts/2], fullest[layouts*99/100]
	serves := func(m int) float64 { return 1_000 * shards / float64(m) }
	const source = "balls in bins (design note on adaptive sharding, section 3), 20 on 20"
	return []Finding{
		{
			"shards on the fullest partition, median and 99th percentile of 200 layouts", "3 and 5", source,
			fmt.Sprintf("%d and %d", median, p99), median == 3 && p99 >= 4 && p99 <= 6,
		},
		{
			"shards chosen uniformly", "serves 6,700 (median) to 4,000 (99 of 100 layouts), never 20,000", source,
			fmt.Sprintf("%s to %s; %d of %d layouts serve 98 %% of 1,000 × 20/M without a refusal and not 110 %%",
				figure.Thousands(serves(median)), figure.Thousands(serves(p99)), predicted, layouts),
			predicted == layouts,
		},
		{
			"shards chosen so as to avoid throttled ones", "12,800 on average", source,
			figure.Thousands(aware) + " on average", near(aware, 12_800, 0.03),
		},
	}
}

// shardLayout measures one placement of shards: how many are on the fullest
// partition, whether a uniform choice behaves as that predicts, and what is served
// when every shard is offered more than it can take.
func shardLayout(layout, shards int) (m int, asPredicted bool, occupied float64) {
	places := make([][]byte, shards)
	for i := range places {
		places[i] = Place(fmt.Sprintf("PAGE_VIEWS-%d#SHARD_%d", layout, i), "")
	}
	warm := partition.Config{Resource: "table/warm", Capacity: partition.Capacity{Warm: partition.Rate{Read: 12_000, Write: 20_000}}}
	counts := map[uint64]int{}
	l := newLab()
	table := l.set(warm)
	for _, place := range places {
		counts[table.Locate(l.Now(), place)]++
	}
	for _, n := range counts {
		m = max(m, n)
	}
	run := func(unitsPerSecond float64, warmUp, d time.Duration) Tally {
		l := newLab()
		table := l.set(warm)
		load := l.offer(unitsPerSecond, 20, 1, func(n int, c []partition.Charge) {
			c[0] = partition.Charge{Set: table, Place: places[n%shards], Write: 20}
		})
		l.Run(warmUp)
		load.Tally.Reset()
		l.Run(d)
		return load.Tally
	}
	limit := 1_000 * float64(shards) / float64(m)
	below, above := run(0.98*limit, 0, 4*time.Second), run(1.1*limit, 0, 4*time.Second)
	all := run(40_000, time.Second, time.Second)
	return m, below.Throttled == 0 && above.Throttled > 0, all.AcceptedUnits
}
