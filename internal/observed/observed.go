// Package observed makes plans for keys whose traffic was observed, so that a plan uses every figure of a report and never
// contradicts a finding.
package observed

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/heat"
	"github.com/heatsink-go/heatsink/internal/judge"
	"github.com/heatsink-go/heatsink/layout"
	"github.com/heatsink-go/heatsink/plan"
)

// Seen is what was seen of tables and indexes.
type Seen []*observation

// observation is what was seen of a table or index: how it is set up, and the rates of its keys.
type observation struct {
	resource *heat.ResourceReport
	rates    []plan.KeyRate
	demand   [2]float64             // for all keys, in units a second by direction, also for keys that are not in rates
	by       map[string]heat.Source // which source a key's rates are from
	names    map[string]string      // the keys in rates, by the stored keys that they are of
	limits   heat.Limits            // of one partition, as the source of the keys says
	critical map[string]bool        // keys that findings say are held at the limit
	on       map[string]string      // partitions of keys, where the source knows them
	grows    bool                   // control items were seen, as adaptive collections have them
	keys     int64                  // that the source has seen
}

// HotKey is a key of one of them.
type HotKey struct {
	plan.KeyRate
	of *observation
}

// trust orders sources, those first whose rates of a key are used when several have some: live calls are counted to the
// unit, a stream's are worked out, and Contributor Insights has means of a minute, of reads and writes together.
func trust(s heat.Source) int {
	at := slices.Index([]heat.Source{heat.Live, heat.Engine, heat.Stream, heat.Insights}, s)
	if at < 0 {
		return -1 // somebody's own
	}
	return at
}

// Of returns what reports show of each table and index, also of those without rates of keys, such as a scan's.
func Of(reports []heat.Report) Seen {
	reports = directed(reports)
	slices.SortStableFunc(reports, func(a, b heat.Report) int { return trust(a.Source) - trust(b.Source) })
	var all Seen
	for _, report := range reports {
		for i := range report.Resources {
			r := &report.Resources[i]
			o := all.of(r.Resource)
			if o == nil {
				o = &observation{resource: r, limits: report.Limits, by: make(map[string]heat.Source), names: make(map[string]string), critical: make(map[string]bool), on: make(map[string]string)}
				all = append(all, o)
			}
			if len(o.rates) == 0 && len(r.Writes.Keys)+len(r.Reads.Keys) > 0 {
				o.resource, o.limits = r, report.Limits // of the source that knows the keys
			}
			o.add(&report, r)
		}
	}
	for _, report := range reports {
		for _, d := range report.Decisions {
			all.Grow(d.Resource, d.Key) // the control law decides about it
		}
	}
	return all
}

// Grow marks a key whose ledger says that it grows by itself: a plan gives it no fixed shards.
func (all Seen) Grow(of heat.Resource, key string) {
	if o := all.of(of); o != nil && o.by[key] != "" {
		o.rate(key).Adaptive = true
	}
}

// Settled returns reports as they are read from a file. One that was saved after its traffic had ended is that of a source that
// has stopped: findings and plans are about its busiest time, not about the pause.
func Settled(reports []heat.Report) []heat.Report {
	reports = slices.Clone(reports)
	for i := range reports {
		r := &reports[i]
		if r.Ended || !paused(r) {
			continue
		}
		r.Ended, r.Resources = true, slices.Clone(r.Resources)
		for j := range r.Resources {
			for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
				f := r.Resources[j].Flow(d)
				f.Keys = slices.Clone(f.Keys)
				for k := range f.Keys {
					f.Keys[k].Share = min(1, f.Keys[k].Low/max(f.Units, f.Keys[k].Low, 1)) // as in other reports that have ended
				}
			}
		}
	}
	return reports
}

// paused reports whether there is hardly any traffic left of what a report has seen.
func paused(r *heat.Report) bool {
	const hardly = 0.1
	now, busiest := 0.0, 0.0
	for i := range r.Resources {
		for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
			for _, k := range r.Resources[i].Flow(d).Keys {
				now, busiest = now+r.Sustained(&k), max(busiest, k.Busiest)
			}
		}
	}
	return now < hardly*busiest
}

// directed returns reports in which units of Contributor Insights, which counts reads and writes together, are reads where
// CloudWatch shows hardly any writes.
func directed(reports []heat.Report) []heat.Report {
	reports = slices.Clone(reports)
	for i := range reports {
		if reports[i].Source != heat.Insights {
			continue
		}
		reports[i].Resources = slices.Clone(reports[i].Resources)
		for j := range reports[i].Resources {
			r := &reports[i].Resources[j]
			told := slices.ContainsFunc(r.Writes.Throttles, func(t heat.ThrottleCount) bool { return t.Reason != "" })
			if !told && len(r.Reads.Keys) == 0 && onlyRead(reports, r.Resource) {
				r.Reads, r.Writes = r.Writes, heat.Flow{}
			}
		}
	}
	return reports
}

// onlyRead reports whether CloudWatch says that a table or index is read, and hardly written.
func onlyRead(reports []heat.Report, resource heat.Resource) bool {
	for i := range reports {
		if reports[i].Source != heat.CloudWatch {
			continue
		}
		for j := range reports[i].Resources {
			if r := &reports[i].Resources[j]; r.Resource == resource {
				if r.Reads.Throttled+r.Writes.Throttled > 0 {
					return r.Writes.Throttled == 0
				}
				const hardly = 10 // as in heat
				return r.Reads.Units > hardly*r.Writes.Units
			}
		}
	}
	return false
}

func (all Seen) of(r heat.Resource) *observation {
	at := slices.IndexFunc(all, func(o *observation) bool { return o.resource.Resource == r })
	if at < 0 {
		return nil
	}
	return all[at]
}

// add takes the rates of the keys that no earlier source had, and the throttles of all: a stream shows none.
func (o *observation) add(report *heat.Report, r *heat.ResourceReport) {
	o.grows = o.grows || r.Writes.Control.Requests > 0 || r.Reads.Control.Requests > 0 || r.Stored != nil && r.Stored.Control.Items > 0
	o.keys = max(o.keys, r.Writes.Distinct.Keys, r.Reads.Distinct.Keys)
	for _, d := range [...]heat.Direction{heat.Write, heat.Read} {
		if o.demand[d] == 0 {
			o.demand[d] = demand(report, r.Flow(d))
		}
		for _, k := range wholeKeys(report, r, d) {
			o.addKey(report, d, &k)
		}
	}
}

// someItems is from how many different items on a shard takes a part of a key's writes.
const someItems = 10

func (o *observation) addKey(report *heat.Report, d heat.Direction, k *wholeKey) {
	if report.Source == heat.Insights { // it counts reads and writes together: as in findings, that alone fills no partition
		k.sustained, k.fullest, k.Second = 0, 0, max(k.sustained, k.Second)
	}
	limit := report.Limit(d) * float64(max(k.shards, 1))
	by, known := o.by[k.Key]
	switch {
	case known && by != report.Source:
		o.rate(k.Key).throttle(report, &k.KeyHeat, d, limit)
		return
	case max(k.sustained, k.Second) == 0:
		return
	}
	o.by[k.Key] = report.Source
	for _, stored := range k.stored {
		o.names[stored] = k.Key
	}
	to := o.rate(k.Key)
	to.throttle(report, &k.KeyHeat, d, limit)
	to.OneItem = to.OneItem || k.Items == 1
	to.ManyItems = to.ManyItems || d == heat.Write && k.Items > someItems
	to.Mixed = report.Source == heat.Insights && d == heat.Write
	to.Shards = max(to.Shards, k.shards)
	if k.shards > 0 { // the bare key, beside its shards, tells nothing of their spelling
		to.Format = k.format
	}
	to.OneOfMany = to.OneOfMany || k.widths
	to.Bare = to.Bare || k.bare
	if k.Partition != "" {
		o.on[k.Key] = k.Partition
	}
	if d == heat.Write {
		to.WriteUnits, to.WriteBurst = max(to.WriteUnits, k.sustained), max(to.WriteBurst, k.Second)
		to.FullestWrites = min(to.WriteUnits, max(to.FullestWrites, k.fullest))
		to.WritesRefused = to.WritesRefused || k.held
		to.ItemBytes = max(to.ItemBytes, itemBytes(&k.KeyHeat))
	} else {
		to.ReadUnits, to.ReadBurst = max(to.ReadUnits, k.sustained), max(to.ReadBurst, k.Second)
		to.FullestReads = min(to.ReadUnits, max(to.FullestReads, k.fullest))
		to.ReadsRefused = to.ReadsRefused || k.held
	}
}

// demand returns the demand for all keys of a flow, in units a second: a report lists the hottest only. It is 0 for a
// source without keys, which may count the same traffic over another time.
func demand(report *heat.Report, f *heat.Flow) float64 {
	all := 0.0
	for i := range f.Keys {
		if k := &f.Keys[i]; k.Share > 0 {
			all = max(all, k.RateLow/k.Share, f.Units/max(1, report.Elapsed().Seconds()))
			break // the hottest key: its share is the most certain one
		}
	}
	return all
}

// keyRate is a plan's, filled in from what was seen.
type keyRate plan.KeyRate

// throttle takes what was refused of a key. Refused reads say nothing about its writes.
func (to *keyRate) throttle(report *heat.Report, k *heat.KeyHeat, d heat.Direction, limit float64) {
	atLimit := held(report, k, limit)
	if k.Reason != "" && !byKeyRange(k) {
		return // the table or the account is the limit: shards of the key do not help
	}
	if d == heat.Write {
		to.Throttles = max(to.Throttles, int(k.Throttled))
		to.WritesRefused = to.WritesRefused || atLimit
	} else {
		to.ReadsRefused = to.ReadsRefused || atLimit
	}
}

// itemBytes is how large a key's items are, as far as the units of its writes tell: 0 if they are a unit each.
func itemBytes(k *heat.KeyHeat) int {
	served := k.Requests - k.Throttled
	if served <= 0 || k.Units <= float64(served) {
		return 0
	}
	return int(math.Ceil(min(1024*k.Units/float64(served), plan.MaxItemBytes)))
}

func (o *observation) rate(key string) *keyRate {
	i := slices.IndexFunc(o.rates, func(k plan.KeyRate) bool { return k.Key == key })
	if i < 0 {
		i = len(o.rates)
		o.rates = append(o.rates, plan.KeyRate{Key: key})
	}
	return (*keyRate)(&o.rates[i])
}

// OfKeys are the kinds of findings that say that a key wants more than its partition gives.
var OfKeys = []heat.Kind{
	heat.HotKey, heat.DominantKey, heat.LowCardinality, heat.TimeKey, heat.PopularItem, heat.GlobalCounter,
	heat.SkewedTenant, heat.HotIndex, heat.HotPartition, heat.UnevenShards,
}

// Judge takes what findings say of keys whose rates are known: a plan must not contradict them.
func (all Seen) Judge(findings []heat.Finding) {
	for _, f := range findings {
		o := all.of(f.Resource)
		if o == nil || o.names[f.Key] == "" || !slices.Contains(OfKeys, f.Kind) {
			continue
		}
		key := o.names[f.Key]
		k := o.rate(key)
		k.OneItem = k.OneItem || f.Kind == heat.GlobalCounter
		k.OneOfMany = k.OneOfMany || f.Kind == heat.SkewedTenant
		if f.Severity < heat.Critical {
			continue
		}
		o.critical[key] = true
		k.Alone = k.Alone || o.by[key] == heat.Insights && f.Kind != heat.HotPartition
		if f.Direction == heat.Write {
			k.WritesRefused = true
		} else {
			k.ReadsRefused = true
		}
	}
	for _, f := range findings {
		if o := all.of(f.Resource); o != nil && f.Kind == heat.HotPartition && f.Severity == heat.Warning {
			o.spare(f)
		}
	}
}

// spare marks the keys of a warning about a partition that a hotter key fills: what was refused of them is no reason to spread them.
func (o *observation) spare(f heat.Finding) {
	for _, stored := range append([]string{f.Key}, f.Others...) {
		key := o.names[stored]
		if key == "" || o.critical[key] {
			continue
		}
		k := o.rate(key)
		k.Beside = true
		if f.Direction == heat.Write {
			k.WritesRefused = false
		} else {
			k.ReadsRefused = false
		}
	}
}

// Hottest returns the keys that want most, over all tables and indexes: those that findings call critical first, then by
// their part of what a partition gives, reads and writes of a key together.
func (all Seen) Hottest(most int) []HotKey {
	var keys []HotKey
	for _, o := range all {
		for _, k := range o.rates {
			keys = append(keys, HotKey{k, o})
		}
	}
	slices.SortStableFunc(keys, func(a, b HotKey) int {
		return cmp.Or(b.critical()-a.critical(), cmp.Compare(b.part(), a.part()))
	})
	keys = onePerBucket(keys)
	return keys[:min(most, len(keys))]
}

func (k *HotKey) critical() int {
	if k.of.critical[k.Key] {
		return 1
	}
	return 0
}

func (k *HotKey) part() float64 {
	shards := float64(max(k.Shards, 1))
	return (max(k.WriteUnits, k.WriteBurst)/k.of.limits.Of(heat.Write) + max(k.ReadUnits, k.ReadBurst)/k.of.limits.Of(heat.Read)) / shards
}

// Has reports whether a key of a report is this one, or a shard of it.
func (k *HotKey) Has(stored string) bool { return k.of.names[stored] == k.Key }

// known fills in what the other keys of a table or index tell of a key: whether there are some, which stay as they are,
// whether one of them is hot, and whether the key grows by itself.
func (k *HotKey) known() plan.KeyRate {
	rate := k.bucketed()
	rate.Limiter = rate.Shards > 0 && strings.HasPrefix(rate.Key, "RATE_LIMIT#") // as package ratelimit spells them by default
	rate.Adaptive = rate.Adaptive || rate.Bare && k.of.grows
	if (rate.Shards == 0 || rate.Bare) && k.amongOthers(&rate) {
		rate.OneOfMany = true
	}
	most := 0.0
	for i := range k.of.rates {
		other := &k.of.rates[i]
		here, there := k.of.on[k.Key], k.of.on[other.Key]
		if seen, _ := k.of.planned(other, heat.Write); other.Key != k.Key && seen > most && k.of.hot(other) && (here == there || here == "" || there == "") {
			rate.Neighbour, most = other.Key, seen
		}
	}
	return rate
}

// hot reports whether writes of a key are throttled, or are about to be.
func (o *observation) hot(k *plan.KeyRate) bool {
	load := judge.Load{Demand: k.WriteUnits, Second: k.WriteBurst, Limit: o.limits.Of(heat.Write), Refused: k.WritesRefused, Fullest: k.FullestWrites}
	v, _, _ := judge.Default().Over(load, k.Shards)
	return v.Critical()
}

// amongOthers reports whether the table or index has other keys. Those of a key with time buckets are others with such a bucket.
func (k *HotKey) amongOthers(rate *plan.KeyRate) bool {
	if rate.Bucket == layout.NoBucket {
		return len(k.of.rates) > 1 || k.of.keys > int64(max(1, rate.Shards)) || k.share() < 0.99
	}
	return slices.ContainsFunc(k.of.rates, func(other plan.KeyRate) bool {
		b := (&HotKey{other, k.of}).bucketed()
		return b.Bucket == rate.Bucket && b.Key != rate.Key
	})
}

// placed fills in what reports know of a table or index, where the flags say nothing. What nobody knows stays blank.
func (all Seen) placed(w plan.Workload, o *observation) plan.Workload {
	r := o.resource
	w.Table.PartitionWrites = cmp.Or(w.Table.PartitionWrites, int64(math.Round(o.limits.Of(heat.Write))))
	w.Table.PartitionReads = cmp.Or(w.Table.PartitionReads, int64(math.Round(o.limits.Of(heat.Read))))
	w.Existing = true // a key that is used has items
	w.Names.Blank = true
	w.Names.Table = cmp.Or(w.Names.Table, r.Table)
	if r.Index != "" {
		w.Table.Index, w.Names.Index = true, cmp.Or(w.Names.Index, r.Index)
		if table := all.of(heat.Resource{Table: r.Table}); table != nil {
			w.Names.TableKey = cmp.Or(w.Names.TableKey, only(table.resource.Key))
			w.Names.TableSortKey = cmp.Or(w.Names.TableSortKey, only(table.resource.Sort))
			w.Names.Described = r.Sort != nil && table.resource.Sort != nil
		}
	} else {
		w.Names.Described = r.Sort != nil
	}
	w.Names.SortKey = cmp.Or(w.Names.SortKey, only(r.Sort))
	w.Names.PartitionKey = cmp.Or(w.Names.PartitionKey, only(r.Key))
	if c := r.Capacity; c != nil {
		w.Table.WarmWrites = cmp.Or(w.Table.WarmWrites, c.WarmWrites)
		w.Table.WarmReads = cmp.Or(w.Table.WarmReads, c.WarmReads)
		w.Table.Partitions = cmp.Or(w.Table.Partitions, c.Partitions)
		if !c.OnDemand && c.WriteUnits > 0 && w.Table.WriteUnits == 0 && w.Table.ReadUnits == 0 {
			w.Table.WriteUnits, w.Table.ReadUnits = c.WriteUnits, c.ReadUnits
		}
	}
	return w
}

// only returns the name of an attribute that is alone in a key, "" if there are several or none.
func only(names []string) string {
	if len(names) != 1 {
		return ""
	}
	return names[0]
}

// Plans makes plans for keys, in their order. base is everything that was not observed, and check looks at it before it is
// used, and may change it. The keys have items, unless check says that they have none. A key's share is of the demand for its table or index, whichever keys are asked for.
func (all Seen) Plans(base plan.Workload, keys []HotKey, check func(*plan.Workload) error) ([]plan.Plan, error) {
	if base.Share != 0 || base.Zipf != 0 {
		return nil, fmt.Errorf("%w: leave out Share and Zipf: the shares follow from the rates of the keys", plan.ErrWorkload)
	}
	workloads := make(map[*observation]plan.Workload, len(all))
	for _, o := range all {
		workload := all.placed(base, o)
		if check != nil {
			if err := check(&workload); err != nil {
				return nil, err
			}
		}
		workloads[o] = workload
	}
	plans := make([]plan.Plan, 0, len(keys))
	for _, k := range keys {
		workload := workloads[k.of]
		workload.Share = k.share()
		one, err := plan.ForKeys(workload, []plan.KeyRate{k.known()})
		if err != nil {
			return nil, err
		}
		plans = append(plans, one...)
	}
	return plans, nil
}

// share returns a key's share of the demand for its table or index, of the writes if it has some. Both are the demand that a
// plan is for, which is more than was seen where a key fills a partition.
func (k *HotKey) share() float64 {
	d := heat.Write
	if k.WriteUnits == 0 && k.WriteBurst == 0 {
		d = heat.Read
	}
	listed, more := 0.0, 0.0
	for i := range k.of.rates {
		seen, planned := k.of.planned(&k.of.rates[i], d)
		listed, more = listed+planned, more+planned-seen
	}
	_, own := k.of.planned(&k.KeyRate, d)
	if own == 0 {
		return 0
	}
	return min(1, own/max(listed, k.of.demand[d]+more))
}

// planned returns the units a second that were seen of a key in a direction, and those that a plan is for.
func (o *observation) planned(k *plan.KeyRate, d heat.Direction) (seen, planned float64) {
	load := judge.Load{Demand: k.WriteUnits, Second: k.WriteBurst, Limit: o.limits.Of(d), Refused: k.WritesRefused, Fullest: k.FullestWrites}
	if d == heat.Read {
		load = judge.Load{Demand: k.ReadUnits, Second: k.ReadBurst, Limit: o.limits.Of(d), Refused: k.ReadsRefused, Fullest: k.FullestReads}
	}
	_, planned, _ = judge.Default().Over(load, k.Shards)
	return max(load.Demand, load.Second), planned
}

// Resource returns the table or index of a key.
func (k *HotKey) Resource() heat.Resource { return k.of.resource.Resource }
