package heat

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heatsink-go/heatsink/internal/sketch"
)

// LogicalKey is a key with all of its shards together, as the program that shards it knows it.
type LogicalKey struct {
	Key    string `json:"key"`    // without the shard, but with its bucket
	Shards int    `json:"shards"` // that were seen; 1 for a key without shards

	// Bare says that the bare key is one of Shards, though no layout says so: see Folded.
	Bare bool `json:"bare,omitempty"`

	Units     float64 `json:"units"`          // of all shards
	RateLow   float64 `json:"rateLow"`        // as in KeyHeat
	Busy      float64 `json:"busy,omitempty"` // of all shards at one moment; in Folded, of shards that Flow.Logical lacks, the sum
	Share     float64 `json:"share"`
	Requests  int64   `json:"requests,omitempty"`
	Throttled int64   `json:"throttled,omitempty"`
	Consumed  float64 `json:"consumed,omitempty"` // as in KeyHeat, of all shards; likewise Second and Refused
	Second    float64 `json:"second,omitempty"`
	Refused   float64 `json:"refused,omitempty"`
	Items     int64   `json:"items,omitempty"` // stored, lower bound

	Fullest      string  `json:"fullest,omitempty"`      // the fullest shard, as it is stored
	FullestShare float64 `json:"fullestShare,omitempty"` // its part of the key's units or items, 0 to 1

	// HottestRate is the highest RateLow of a shard, which one partition has to serve. Of a key without shards it is the
	// key's own.
	HottestRate float64 `json:"hottestRate,omitempty"`

	// Reason is that of the shard that was throttled most, in DynamoDB's words.
	Reason string `json:"reason,omitempty"`
}

// Spread says how a key is spread: "8 shards, the fullest takes 13 %"; "" for a key without shards.
func (k *LogicalKey) Spread() string {
	if k.Shards < 2 {
		return ""
	}
	return fmt.Sprintf("%s, the fullest takes %.0f %%", countShards(k.Shards), 100*k.FullestShare)
}

// Folded returns the keys of a flow with shards folded into their logical key, hottest first. It knows shards of the layouts
// that the source was told, and keys that end in #SHARD_n or #SHARD#n. With more layouts it knows their shards as well, of
// the keys that are listed. A key of which one shard was seen stays as it is. A bare key beside shards of a layout without
// Format.BareZero is another key. Where no layout is told, it is the first shard if #SHARD_1 was seen and #SHARD_0 was not:
// keys of adaptive collections look like that.
func (f *Flow) Folded(more ...Layout) []LogicalKey {
	b := folding{layouts: append(foldLayouts(f.Sharded), more...)}
	for _, k := range f.Logical {
		if k.HottestRate > 0 || k.RateLow == 0 { // else an older release made it, without the rates of today
			b.known(k)
		}
	}
	for i := range f.Keys {
		k := &f.Keys[i]
		b.add(k.Key, LogicalKey{
			Units: k.Units, RateLow: k.RateLow, Busy: k.Busy, Share: k.Share, Requests: k.Requests, Throttled: k.Throttled,
			Consumed: k.Consumed, Second: k.Second, Refused: k.Refused, Reason: k.Reason,
		}, k.Units)
	}
	return b.all(hotterKey)
}

// LogicalOf returns the key that a key of the flow is a shard of, by what Folded knows, and whether it is a shard. For many keys
// use Logicals.
func (f *Flow) LogicalOf(key string, more ...Layout) (logical string, shard bool) {
	return f.Logicals(more...)(key)
}

// Logicals returns a function that answers as LogicalOf does. The keys of the flow are folded once, before it is called.
func (f *Flow) Logicals(more ...Layout) func(key string) (logical string, shard bool) {
	layouts := append(foldLayouts(f.Sharded), more...)
	bare := make(map[string]bool) // keys that are the first shards of themselves, though no layout says so
	for _, k := range slices.Concat(f.Logical, f.Folded(more...)) {
		if k.Bare {
			bare[k.Key] = true
		}
	}
	return func(key string) (string, bool) {
		if logical, shard := logicalOf(layouts, key); shard || !bare[key] {
			return logical, shard
		}
		return key, true
	}
}

// isBareShard reports whether a key is the first shard of itself, by what was folded without a layout that says so.
func isBareShard(folded []LogicalKey, key string) bool {
	return slices.ContainsFunc(folded, func(k LogicalKey) bool { return k.Bare && k.Key == key })
}

// hotterKey orders keys, the hottest first.
func hotterKey(a, b *LogicalKey) int {
	return cmp.Or(cmp.Compare(b.RateLow, a.RateLow), cmp.Compare(b.Units, a.Units), cmp.Compare(a.Key, b.Key))
}

// Folded returns the keys of stored items with shards folded into their logical key, as Flow.Folded does, the fullest first.
func (s *Stored) Folded() []LogicalKey {
	b := folding{layouts: foldLayouts(s.Sharded)}
	for i := range s.Keys {
		k := &s.Keys[i]
		b.add(k.Key, LogicalKey{Items: k.Low, Share: k.Share}, float64(k.Low))
	}
	return b.all(func(a, b *LogicalKey) int { return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Key, b.Key)) })
}

// foldLayouts returns the layouts by which shards are known, those that the source was told first.
func foldLayouts(told []Sharded) []Layout {
	var layouts []Layout
	for i := range told {
		layouts = append(layouts, told[i].Layout)
	}
	return append(layouts, selfTold...)
}

// logicalOf returns the key that a key is a shard of.
func logicalOf(layouts []Layout, key string) (logical string, ok bool) {
	place, ok := placeOf(layouts, key)
	return place.logical, ok
}

// shardPlace is a shard, and by which layout it is one.
type shardPlace struct {
	logical string
	shard   int  // counted from 0
	told    bool // the layout is not one of selfTold: it says whether the bare key is a shard
}

func placeOf(layouts []Layout, key string) (place shardPlace, ok bool) {
	for i := range layouts {
		told := !slices.Contains(selfTold, layouts[i])
		if whole, number, ok := layouts[i].cutNumber([]byte(key)); ok {
			shard, asked := layouts[i].shardOf(number)
			return shardPlace{string(whole), shard, told}, asked
		}
		if layouts[i].bare([]byte(key)) {
			return shardPlace{key, 0, told}, true
		}
	}
	return shardPlace{}, false
}

// folding puts shards together.
type folding struct {
	layouts []Layout
	keys    map[foldPlace]*foldedKey
}

// foldPlace tells a key that is folded from a bare key of the same text.
type foldPlace struct {
	key  string
	bare bool
}

type foldedKey struct {
	LogicalKey
	most  float64 // of the fullest shard
	total float64

	mostThrottled int64 // of a shard

	first  bool // the first shard was seen, or a layout says which it is
	second bool // the second shard was seen

	whole bool // counted from more keys than are listed: nothing is added
}

// known takes a key that was put together before.
func (b *folding) known(k LogicalKey) {
	*b.at(foldPlace{key: k.Key}) = foldedKey{LogicalKey: k, whole: true}
}

func (b *folding) at(place foldPlace) *foldedKey {
	if b.keys == nil {
		b.keys = make(map[foldPlace]*foldedKey)
	}
	k := b.keys[place]
	if k == nil {
		k = &foldedKey{LogicalKey: LogicalKey{Key: place.key}}
		b.keys[place] = k
	}
	return k
}

// add adds a key as it is stored, of so much weight.
func (b *folding) add(key string, with LogicalKey, weight float64) {
	at, sharded := placeOf(b.layouts, key)
	place := foldPlace{key: at.logical}
	if !sharded { // a bare key beside shards of it is a key of its own, until all are known
		place = foldPlace{key, true}
	}
	k := b.at(place)
	switch {
	case k.whole:
		return
	case !sharded && k.Shards > 0: // keys that Redact made the same: the hottest stands for them
		if hotterKey(&k.LogicalKey, &with) <= 0 {
			return
		}
		k = &foldedKey{LogicalKey: LogicalKey{Key: key}}
		b.keys[place] = k
	}
	k.first = k.first || at.told || at.shard == 0
	k.second = k.second || at.shard == 1
	with.Shards, with.HottestRate, with.Fullest = 1, with.RateLow, key
	k.take(&foldedKey{LogicalKey: with, most: weight, total: weight, mostThrottled: with.Throttled})
}

// take adds the figures of another shard, or of several.
func (k *foldedKey) take(other *foldedKey) {
	k.Shards += other.Shards
	k.Units += other.Units
	k.RateLow += other.RateLow
	k.Busy += other.Busy
	k.Share = min(1, k.Share+other.Share)
	k.Requests += other.Requests
	if other.mostThrottled > k.mostThrottled {
		k.Reason, k.mostThrottled = other.Reason, other.mostThrottled
	}
	k.Throttled += other.Throttled
	k.Consumed += other.Consumed
	k.Second += other.Second
	k.Refused += other.Refused
	k.HottestRate = max(k.HottestRate, other.HottestRate)
	k.Items += other.Items
	k.total += other.total
	if k.Fullest == "" || other.most > k.most {
		k.Fullest, k.most = other.Fullest, other.most
	}
}

// takeBares makes bare keys the first shards of the keys that lack only these.
func (b *folding) takeBares() {
	for place, bare := range b.keys {
		k := b.keys[foldPlace{key: place.key}]
		switch {
		case !place.bare || k == nil:
		case k.whole && k.Bare: // it is in there already
			delete(b.keys, place)
		case !k.whole && k.second && !k.first:
			k.take(bare)
			k.Bare = true
			delete(b.keys, place)
		}
	}
}

// all returns the keys in an order.
func (b *folding) all(compare func(a, b *LogicalKey) int) []LogicalKey {
	var list []LogicalKey
	b.takeBares()
	for _, k := range b.keys {
		if !k.whole {
			k.FullestShare = share(k.most, k.total)
		}
		if k.Shards < 2 && !k.whole {
			k.Key, k.Fullest, k.FullestShare = k.Fullest, "", 0 // it may not be a shard at all
		}
		list = append(list, k.LogicalKey)
	}
	slices.SortFunc(list, func(a, b LogicalKey) int { return compare(&a, &b) })
	return list
}

// mostLogical is how many sharded keys a report lists.
const mostLogical = 50

// logical puts together the shards of all keys that the sketch has, also of those that a report does not list.
func (f *flow) logical(now int64, total, window float64) []LogicalKey {
	layouts := selfTold
	if f.shards != nil {
		layouts = nil
		for _, l := range f.shards.layouts {
			layouts = append(layouts, l.Layout)
		}
		layouts = append(layouts, selfTold...)
	}
	b := folding{layouts: layouts}
	past := make(map[string]*[manyMoments + 1]float64)
	add := func(k *sketch.Weighed[keyCount]) {
		name, ok := logicalOf(layouts, k.Text)
		if !ok {
			name = k.Text
		}
		if past[name] == nil {
			past[name] = new([manyMoments + 1]float64)
		}
		k.Extra.moments.addTo(past[name], now, func(at int64) float64 { return f.demand(&k.Extra, at) })
		b.add(k.Text, LogicalKey{
			Units: k.Extra.units, RateLow: k.Low / window, Busy: k.Extra.busy.lately(now), Share: share(k.Low, total),
			Requests: k.Extra.requests, Throttled: k.Extra.throttled, Reason: k.Extra.reason,
			Consumed: k.Extra.consumed.at(now, f.decay) / window, Second: k.Extra.seconds.last(now), Refused: k.Extra.refused.at(now, f.decay) / window,
		}, k.Extra.units)
	}
	var bares []*sketch.Weighed[keyCount]
	all := f.keys.Top(now, f.keys.Len())
	for i := range all {
		if _, ok := logicalOf(layouts, all[i].Text); ok {
			add(&all[i])
		} else {
			bares = append(bares, &all[i])
		}
	}
	for _, k := range bares { // most keys of a table have no shards
		if b.keys[foldPlace{key: k.Text}] != nil {
			add(k)
		}
	}
	list := slices.DeleteFunc(b.all(hotterKey), func(k LogicalKey) bool { return k.Shards < 2 })
	for i := range list {
		if at := past[list[i].Key]; at != nil {
			list[i].Busy = slices.Max(at[:])
		}
	}
	return list[:min(len(list), mostLogical)]
}

// allFolded returns the keys of a table or index, with shards folded into their logical key, once for each thing that was
// counted.
func allFolded(r *ResourceReport) []LogicalKey {
	all := slices.Concat(r.Writes.Folded(), r.Reads.Folded())
	if r.Stored != nil {
		all = append(all, r.Stored.Folded()...)
	}
	return all
}

// logicalIn returns the sharded key that a key is a shard of, nil if it is none or the only one that was seen.
func logicalIn(r *ResourceReport, d Direction, key string) *LogicalKey {
	flow := r.Flow(d)
	name, ok := logicalOf(foldLayouts(flow.Sharded), key)
	if !ok {
		return nil
	}
	for _, k := range flow.Folded() {
		if k.Key == name && k.Shards > 1 {
			return &k
		}
	}
	return nil
}

// shardOfFinding adds a hot shard to the finding about another shard of the same key. It reports whether there is one.
func (e *explainer) shardOfFinding(r *ResourceReport, d Direction, k *KeyHeat, of *LogicalKey, severity Severity) bool {
	if of == nil {
		return false
	}
	layouts := foldLayouts(r.Flow(d).Sharded)
	for i := range e.findings {
		f := &e.findings[i]
		if f.Resource != r.Resource || f.Direction != d || f.Kind != HotKey {
			continue
		}
		if name, ok := logicalOf(layouts, f.Key); ok && name == of.Key {
			f.Severity, f.Others = max(f.Severity, severity), append(f.Others, k.Key)
			return true
		}
	}
	return false
}
