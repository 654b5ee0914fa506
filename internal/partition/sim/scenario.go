package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/heatsink-go/heatsink/internal/figure"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// lab is a simulation with an account.
type lab struct {
	*Sim
	account *partition.Account
}

// labStart is when all scenarios begin: any time does.
var labStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newLab() *lab {
	account, err := partition.NewAccount(partition.Options{})
	if err != nil {
		panic(err) // the zero Options are valid
	}
	return &lab{New(labStart), account}
}

// set adds a table or index. The configurations are the scenarios' own.
func (l *lab) set(c partition.Config) *partition.Set {
	s, err := l.account.NewSet(l.Now(), c)
	if err != nil {
		panic(err)
	}
	return s
}

// offer starts a stream of so many units per second, in requests of size units,
// each of which makes the charges that request fills in.
func (l *lab) offer(unitsPerSecond, size float64, charges int, request func(n int, charges []partition.Charge)) *Stream {
	list := make([]partition.Charge, charges)
	s := &Stream{PerSecond: unitsPerSecond / size, Request: func(n int) []partition.Charge {
		request(n, list)
		return list
	}}
	l.Add(0, s)
	return s
}

// keyIn returns the name of a key that lies in partition i of a set.
func keyIn(s *partition.Set, i int) string {
	want := s.Snapshot(labStart, 0).Partitions[i].ID
	for n := 0; ; n++ {
		if key := fmt.Sprint("key-", n); s.Locate(labStart, Place(key, "")) == want {
			return key
		}
	}
}

// rising returns the place of the n-th item of a collection whose sort key rises.
func rising(key string, n int) []byte { return Place(key, fmt.Sprintf("%012d", n)) }

// only reports whether requests were throttled, and for one reason alone.
func only(t *Tally, r partition.Reason) bool { return len(t.Reasons) == 1 && t.Reasons[r] > 0 }

func reasonsOf(t *Tally) string {
	for r := range t.Reasons {
		if only(t, r) {
			return string(r)
		}
	}
	return fmt.Sprint(t.Reasons)
}

// oneKey: scenario 1.
func oneKey() []Finding {
	l := newLab()
	table := l.set(partition.Config{Resource: "table/views"})
	load := l.offer(3_000, 1, 1, func(n int, c []partition.Charge) {
		c[0] = partition.Charge{Set: table, Place: rising("PAGE_VIEWS", n), Write: 1}
	})
	l.Run(time.Second) // what the idle partition had saved
	load.Tally.Reset()
	l.Run(time.Minute)

	least, most := math.Inf(1), 0.0
	for _, p := range table.Snapshot(l.Now(), time.Minute).Partitions {
		for _, s := range p.Seconds[:max(len(p.Seconds)-1, 0)] {
			least, most = min(least, s.WriteUnits), max(most, s.WriteUnits)
		}
	}
	rate := load.Tally.AcceptedUnits / 60
	exception := partition.ThrottlingException
	return []Finding{{
		Case:      "3,000 write units per second offered to one key",
		Published: "flat 1,000 per second; the rest ThrottlingException, TableWriteKeyRangeThroughputExceeded",
		Source:    "AWS blog, Scaling DynamoDB part 1; Programming.Errors",
		Ours: fmt.Sprintf("%s per second (each second %s to %s); the rest %s, %s", figure.Thousands(rate), figure.Thousands(least), figure.Thousands(most),
			exception, reasonsOf(&load.Tally)),
		OK: near(rate, 1_000, 0.02) && near(least, 1_000, 0.02) && near(most, 1_000, 0.02) &&
			only(&load.Tally, partition.TableWriteKeyRangeThroughputExceeded) && load.Tally.Exceptions[exception] == load.Tally.Throttled,
	}}
}

// loadFile: scenario 2. AWS loaded some 200 keys; at the price of the time, $0.18
// were 144,000 write units. How its program was made is not said: 32 threads, one
// item a request, 5 ms each. Where the keys lie is left to chance, so it is the
// mean of four sets of keys.
func loadFile() []Finding {
	const keys, perKey, layouts = 200, 720, 4
	measure := func(shuffled bool) float64 {
		sum := 0.0
		for layout := range layouts {
			l := newLab()
			table := l.set(partition.Config{Resource: "table/addresses"})
			places, file := make([][]byte, keys), make([]int, 0, keys*perKey)
			for k := range places {
				places[k] = Place(fmt.Sprintf("%d.%d", layout, k), "")
				for range perKey {
					file = append(file, k)
				}
			}
			if shuffled {
				rand.New(rand.NewPCG(2, uint64(layout))).Shuffle(len(file), func(i, j int) { file[i], file[j] = file[j], file[i] })
			}
			charge := make([]partition.Charge, 1)
			loader := &Loader{
				Rows: len(file), Batch: 1, Latency: 5 * time.Millisecond, Backoff: 25 * time.Millisecond, MaxBackoff: 2 * time.Second,
				Request: func(row int) []partition.Charge {
					charge[0] = partition.Charge{Set: table, Place: places[file[row]], Write: 1}
					return charge
				},
			}
			for _, w := range loader.Workers(32) {
				l.Add(0, w)
			}
			l.RunUntil(time.Hour, loader.Finished)
			sum += float64(loader.Rows) / loader.Done.Sub(labStart).Seconds()
		}
		return sum / layouts
	}
	sorted, shuffled := measure(false), measure(true)
	const source = "AWS blog, Scaling DynamoDB part 1"
	return []Finding{
		{"in the order of 200 keys", "about 1,250 write units per second", source, figure.Thousands(sorted), near(sorted, 1_250, 0.1)},
		{"shuffled", "about 3,600 write units per second", source, figure.Thousands(shuffled), near(shuffled, 3_600, 0.1)},
	}
}

// adaptive: scenario 3.
func adaptive() []Finding {
	const source = "AWS: burst-adaptive-capacity"
	measure := func(hot float64) (perSecond float64, all Tally) {
		l := newLab()
		table := l.set(partition.Config{
			Resource: "table/games", Partitions: 4,
			Capacity: partition.Capacity{Mode: partition.Provisioned, Provisioned: partition.Rate{Read: 400, Write: 400}},
		})
		var streams []*Stream
		for i, rate := range []float64{50, 50, 50, hot} {
			place := Place(keyIn(table, i), "")
			streams = append(streams, l.offer(rate, 1, 1, func(_ int, c []partition.Charge) { c[0] = partition.Charge{Set: table, Place: place, Write: 1} }))
		}
		l.Run(10 * time.Minute)
		all.Reasons = map[partition.Reason]int64{}
		for _, s := range streams {
			all.AcceptedUnits += s.Tally.AcceptedUnits
			all.Throttled += s.Tally.Throttled
			for r, n := range s.Tally.Reasons {
				all.Reasons[r] += n
			}
		}
		return all.AcceptedUnits / 600, all
	}
	served, fits := measure(150)
	most, over := measure(300)
	return []Finding{
		{
			"50, 50, 50 and 150 write units per second on the partitions, a share being 100", "all served", source,
			fmt.Sprintf("%s of 300 per second served, %d throttled", figure.Thousands(served), fits.Throttled),
			fits.Throttled == 0 && near(served, 300, 0.001),
		},
		{
			"50, 50, 50 and 300", "throttled, the table's total being exceeded: TableWriteProvisionedThroughputExceeded", source,
			fmt.Sprintf("%s of 450 per second served, the rest %s", figure.Thousands(most), reasonsOf(&over)),
			only(&over, partition.TableWriteProvisionedThroughputExceeded) && near(most, 400, 0.01),
		},
	}
}

// burst: scenario 4.
func burst() []Finding {
	l := newLab()
	table := l.set(partition.Config{Resource: "table/spiky", Capacity: partition.Capacity{Mode: partition.Provisioned, Provisioned: partition.Rate{Read: 150, Write: 150}}})
	l.Run(5 * time.Minute)
	begin := l.Now()
	load := l.offer(200, 1, 1, func(n int, c []partition.Charge) {
		c[0] = partition.Charge{Set: table, Place: Place(fmt.Sprint(n%50), ""), Read: 1}
	})
	l.Run(20 * time.Minute)
	lasted := load.Tally.FirstThrottled.Sub(begin)
	load.Tally.Reset()
	l.Run(5 * time.Minute)
	after := load.Tally.AcceptedUnits / 300
	return []Finding{{
		Case:      "then 200 read units per second",
		Published: "45,000 units saved: served for 900 s, then throttled",
		Source:    "AWS re:Post: dynamodb-spiky-workloads",
		Ours:      fmt.Sprintf("served for %s s, then %s per second, the rest %s", figure.Thousands(lasted.Seconds()), figure.Thousands(after), reasonsOf(&load.Tally)),
		OK:        near(lasted.Seconds(), 900, 0.01) && near(after, 150, 0.01) && only(&load.Tally, partition.TableReadProvisionedThroughputExceeded),
	}}
}
