package heat

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heatsink-go/heatsink/internal/sketch"
)

// shardBook counts the keys of a table or index by the layouts that it was told of, in bounded memory. Strays are counted
// exactly. The shards of a key are counted for all keys if there are few, else for a sample: those whose hashes are
// smallest. Such a key has been in the sample since it was first seen, so its counts are exact as well.
//
// A nil shardBook counts nothing.
type shardBook struct {
	layouts []*layoutCount // longest prefix first
	stored  bool           // what is counted are items, not requests
}

type layoutCount struct {
	Layout
	count     int64
	stray     int64
	strayKeys sketch.Distinct
	strays    map[uint64]*strayCount // by the key's hash
	bares     *bareBook              // nil if readers ask for the bare key

	spreads map[uint64]*spread
	cells   int
	limit   uint64 // keys of this hash and above are not in the sample
}

type strayCount struct {
	number string
	text   string // as it is shown
	count  int64
}

// spread is how a key is spread over its shards.
type spread struct {
	shown  string // the key without the shard
	shards []shardCount
}

type shardCount struct {
	count    int64
	items    sketch.Few // of a source that tells each
	distinct int64      // of one that tells their number
	text     string     // the stored key as it is shown
}

// shardTouch is something to count.
type shardTouch struct {
	count    int64 // what was served: what is refused is often tried again, and says nothing of how ids are spread
	refused  int64
	item     uint64 // a hash of the item, 0 if it is not known
	distinct int64  // or how many items there were
}

// newShardBook returns a book for the layouts of a table or index, nil if there are none.
func newShardBook(layouts []Layout, of Resource, stored bool) *shardBook {
	b := &shardBook{stored: stored}
	for _, l := range layouts {
		if l.of(of) {
			b.layouts = append(b.layouts, &layoutCount{
				Layout: l, strayKeys: sketch.NewDistinct(8), strays: make(map[uint64]*strayCount),
				spreads: make(map[uint64]*spread), limit: ^uint64(0), bares: newBareBook(&l),
			})
		}
	}
	if len(b.layouts) == 0 {
		return nil
	}
	// A layout of this table or index comes before a layout of all.
	slices.SortStableFunc(b.layouts, func(x, y *layoutCount) int {
		return cmp.Or(cmp.Compare(len(y.prefix()), len(x.prefix())), cmp.Compare(y.Table, x.Table))
	})
	return b
}

// add counts a key. redact may be nil.
func (b *shardBook) add(key []byte, t shardTouch, redact func(dst, key []byte) []byte) {
	if b == nil {
		return
	}
	for _, l := range b.layouts {
		if whole, number, ok := l.cutNumber(key); ok {
			hash := keyHash(whole)
			l.addNumbered(whole, hash, redact)
			if shard, asked := l.shardOf(number); asked {
				l.add(key, whole, hash, shard, t, redact)
			} else {
				l.addStray(key, number, t.count+t.refused, redact)
			}
			return
		}
	}
	for _, l := range b.layouts {
		l.bares.add(key, t.count+t.refused, redact)
	}
	for _, l := range b.layouts {
		if l.bare(key) {
			l.add(key, key, keyHash(key), 0, t, redact)
			return
		}
	}
}

// addNumbered notes that a numbered shard was seen of what is before the number, the key and its bucket; and of the key,
// which may have been stored before there were buckets.
func (l *layoutCount) addNumbered(whole []byte, hash uint64, redact func(dst, key []byte) []byte) {
	if l.bares == nil {
		return
	}
	l.bares.addNumbered(whole, hash, redact)
	if key, ok := l.cutBucket(whole); ok {
		l.bares.addNumbered(key, keyHash(key), redact)
	}
}

func (l *layoutCount) addStray(key, number []byte, count int64, redact func(dst, key []byte) []byte) {
	l.stray += count
	hash := keyHash(key)
	s := l.strays[hash]
	if s == nil {
		l.strayKeys.Add(hash)
		if len(l.strays) >= mostStrays {
			return
		}
		s = &strayCount{number: string(number), text: shown(key, redact)}
		l.strays[hash] = s
	}
	s.count += count
}

func (l *layoutCount) add(key, whole []byte, hash uint64, shard int, t shardTouch, redact func(dst, key []byte) []byte) {
	l.count += t.count
	if hash >= l.limit {
		return
	}
	s := l.spreads[hash]
	if s == nil {
		s = &spread{shown: shown(whole, redact)}
		l.spreads[hash] = s
	}
	if shard >= len(s.shards) {
		more := shard + 1 - len(s.shards)
		s.shards = append(s.shards, make([]shardCount, more)...)
		l.cells += more
	}
	c := &s.shards[shard]
	if c.text == "" {
		c.text = shown(key, redact)
	}
	c.count += t.count
	c.distinct += t.distinct
	if t.item != 0 {
		c.items.Add(t.item)
	}
	for len(l.spreads) > mostSpreads || l.cells > mostCells && len(l.spreads) > 1 {
		l.drop()
	}
}

// drop takes the key with the largest hash out of the sample for good.
func (l *layoutCount) drop() {
	largest := uint64(0)
	for hash := range l.spreads {
		largest = max(largest, hash)
	}
	l.cells -= len(l.spreads[largest].shards)
	delete(l.spreads, largest)
	l.limit = largest
}

// shown returns what is kept of a key, as a sketch keeps it.
func shown(key []byte, redact func(dst, key []byte) []byte) string {
	return sketch.Cut(keyHash(key), func(dst []byte) []byte {
		if redact != nil {
			return redact(dst, key)
		}
		return append(dst, key...)
	})
}

// report returns what was counted. rest is how much more there may be of any key.
func (b *shardBook) report(rest int64) []Sharded {
	if b == nil {
		return nil
	}
	var all []Sharded
	for _, l := range b.layouts {
		if r := l.report(rest, b.stored); r.Count > 0 || r.Stray > 0 || r.Bare > 0 {
			all = append(all, r)
		}
	}
	return all
}

func (l *layoutCount) report(rest int64, stored bool) Sharded {
	r := Sharded{Layout: l.Layout, Count: l.count, Stray: l.stray}
	if l.stray > 0 {
		r.StrayKeys = strayKeys(len(l.strays), &l.strayKeys)
	}
	for _, s := range l.strays {
		r.Strays = append(r.Strays, Stray{Key: s.text, Number: s.number, Count: s.count})
	}
	slices.SortFunc(r.Strays, compareStrays)
	l.bares.report(&r)
	for _, s := range l.spreads {
		if k, ok := s.report(&l.Layout, rest, stored); ok {
			r.Keys = append(r.Keys, k)
		}
	}
	slices.SortFunc(r.Keys, func(a, b KeyShards) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Key, b.Key))
	})
	return r
}

// report returns how the key is spread, and whether that can be said.
//
// The first shard of a BareZero layout has the key of before there were shards: what is stored there is of any age, so it
// is left out; and a key of which nothing else was seen may not be sharded at all.
func (s *spread) report(l *Layout, rest int64, stored bool) (KeyShards, bool) {
	bareZero := l.Layout.Format.BareZero
	k := KeyShards{Key: s.shown, Shards: l.Layout.Shards}
	if l.Widths {
		k.Shards = len(s.shards)
	}
	from, numbered := 0, 0
	if bareZero && stored {
		from = 1
		k.Shards--
	}
	items, others := int64(0), int64(0)
	for i := from; i < len(s.shards); i++ {
		c := &s.shards[i]
		if c.count <= 0 {
			continue
		}
		k.Seen++
		if i > 0 || !bareZero {
			numbered++
		}
		k.Count += c.count
		n := max(c.items.Count(), c.distinct)
		items += n
		if c.count > k.Most {
			k.Most, k.Fullest, others = c.count, c.text, n
		}
	}
	if rest == 0 && k.Seen > 1 {
		k.Grown = s.grown(from, from+k.Shards)
	}
	k.Items, k.Count = others, k.Count+rest
	if k.Shards > 1 {
		k.OtherItems = float64(items-others) / float64(k.Shards-1)
	}
	return k, numbered > 0 && k.Shards > 1 && !(l.Widths && k.Seen < 2)
}

// grown returns how many shards the key had before, as its shards from one to before another show it, 0 if they do not.
func (s *spread) grown(from, to int) int {
	var counts []int64
	for i := from; i < min(to, len(s.shards)); i++ {
		counts = append(counts, s.shards[i].count)
	}
	if len(s.shards) < to {
		counts = append(counts, 0) // the others have as much
	}
	if n := grownFrom(counts); n > 0 {
		return from + n
	}
	return 0
}
