package simulate

import (
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/heatsink-go/heatsink/internal/ledger"
	"github.com/heatsink-go/heatsink/internal/partition"
)

// fleet is the processes that share the ledgers of an adaptive layout: each has a law of its own, and all add to the
// accumulators of keys. A growth is known to all at once.
type fleet struct {
	laws    []*ledger.Law
	keys    []map[string]bool // that each has seen since the last report
	totals  map[string]ledger.Totals
	records map[string]ledger.Record // of keys that have grown
	widest  int
}

// newFleet returns a fleet of as many processes as the client has.
func newFleet(w *world) (*fleet, error) {
	f := &fleet{totals: map[string]ledger.Totals{}, records: map[string]ledger.Record{}, widest: 1}
	random := rand.New(rand.NewPCG(w.scenario.Seed, 2))
	for range w.scenario.Client.Processes {
		phase := time.Duration(random.Int64N(int64(5 * time.Second)))
		law, err := ledger.NewLaw(ledger.LawOptions{MaxWidth: w.run.Shards, Phase: phase})
		if err != nil {
			return nil, err
		}
		f.laws = append(f.laws, law)
		f.keys = append(f.keys, map[string]bool{})
	}
	return f, nil
}

func (f *fleet) record(key string) ledger.Record {
	if r, ok := f.records[key]; ok {
		return r
	}
	return ledger.Record{Read: 1, Write: 1}
}

func (f *fleet) width(key string) int { return f.record(key).Write }

// observe tells a process's law what became of an operation.
func (f *fleet) observe(process int, key string, s ledger.Sample, now time.Time) {
	if f.laws[process].Observe(key, s, now) {
		f.keys[process][key] = true
	}
}

// maxTotals bounds the accumulators that are remembered. Keys that share a hot partition are reported as well, however cold.
const maxTotals = 100_000

// reportEvery is how often processes look whether a report is due. The law wants it once a second at least.
const reportEvery = 500 * time.Millisecond

// report lets all processes report what is due of the keys that they have seen since the last time, and lets keys grow.
func (f *fleet) report(now time.Time) {
	for i, law := range f.laws {
		for _, key := range slices.Sorted(maps.Keys(f.keys[i])) {
			f.reportKey(law, key, now)
		}
		clear(f.keys[i])
	}
}

func (f *fleet) reportKey(law *ledger.Law, key string, now time.Time) {
	add, due := law.Due(key, now)
	if !due {
		return
	}
	if len(f.totals) >= maxTotals {
		clear(f.totals) // accumulators that begin anew have no rate once, and nothing else is lost
	}
	t := f.totals[key]
	t.Offered += add.Offered
	t.KeyRange += add.KeyRange
	f.totals[key] = t
	r := f.record(key)
	d := law.Decide(key, t, r, now)
	if d.Reason != ledger.Grows {
		return
	}
	r.Generation++
	r.Read, r.Write = d.To, d.To
	f.records[key] = r
	f.widest = max(f.widest, d.To)
}

// throttleOf is the reason of a throttle in the law's terms.
func throttleOf(t *partition.Throttle) ledger.Throttle {
	found := ledger.Other
	for _, c := range t.Causes {
		switch c.Reason {
		case partition.TableWriteKeyRangeThroughputExceeded, partition.TableReadKeyRangeThroughputExceeded:
			return ledger.KeyRange
		case partition.IndexWriteKeyRangeThroughputExceeded:
			found = ledger.IndexKey
		case partition.TableWriteAccountLimitExceeded, partition.IndexWriteAccountLimitExceeded:
			found = ledger.Account
		default:
			found = ledger.Table
		}
	}
	return found
}
