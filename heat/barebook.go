package heat

import (
	"cmp"
	"slices"

	"github.com/heatsink-go/heatsink/internal/sketch"
)

// bareBook finds keys that are stored without a shard and beside numbered shards of the same key, where readers ask for
// numbered shards only. Neither kind shows it alone, and either may be seen first, so it remembers both in bounded memory:
// the numbered keys with the smallest hashes, and the heaviest bare keys. Once a bare key is known to be a stray, it is
// counted exactly.
//
// A nil bareBook counts nothing.
type bareBook struct {
	numbered map[uint64]struct{} // hashes of keys of which a numbered shard was seen
	limit    uint64              // hashes from this one on are not remembered

	candidates *sketch.Heavy[bareCount] // bare keys of which no numbered shard was seen; nil before the first

	stray  int64
	keys   sketch.Distinct
	strays map[uint64]*strayCount // by the key's hash
}

// bareCount is what was counted of a bare key before a numbered shard of it was seen.
type bareCount struct {
	count  int64
	strays bool // it has become a stray
}

const (
	mostNumbered   = 1 << 13 // keys of which a numbered shard was seen; half of them stay when there are more
	mostCandidates = 1 << 10
)

// newBareBook returns the book of a layout, nil if its readers ask for the bare key.
func newBareBook(l *Layout) *bareBook {
	if l.Layout.Format.BareZero || l.Unsharded {
		return nil
	}
	return &bareBook{
		numbered: make(map[uint64]struct{}), limit: ^uint64(0),
		keys: sketch.NewDistinct(8), strays: make(map[uint64]*strayCount),
	}
}

// addNumbered notes that a numbered shard of a key was seen. hash is the key's.
func (b *bareBook) addNumbered(key []byte, hash uint64, redact func(dst, key []byte) []byte) {
	if b == nil {
		return
	}
	if _, known := b.numbered[hash]; known {
		return
	}
	if b.candidates != nil {
		if c := b.candidates.Extra(hash); c != nil && !c.strays {
			c.strays = true
			b.addStray(key, hash, c.count, redact)
		}
	}
	if hash >= b.limit {
		return
	}
	b.numbered[hash] = struct{}{}
	if len(b.numbered) > mostNumbered {
		b.halve()
	}
}

// halve forgets the half of the numbered keys whose hashes are larger, for good.
func (b *bareBook) halve() {
	hashes := make([]uint64, 0, len(b.numbered))
	for hash := range b.numbered {
		hashes = append(hashes, hash)
	}
	slices.Sort(hashes)
	b.limit = hashes[mostNumbered/2]
	for _, hash := range hashes[mostNumbered/2:] {
		delete(b.numbered, hash)
	}
}

// add counts a key without a number.
func (b *bareBook) add(key []byte, count int64, redact func(dst, key []byte) []byte) {
	if b == nil || count <= 0 {
		return
	}
	hash := keyHash(key)
	if s := b.strays[hash]; s != nil {
		s.count += count
		b.stray += count
		return
	}
	if _, known := b.numbered[hash]; known {
		b.addStray(key, hash, count, redact)
		return
	}
	if b.candidates == nil {
		b.candidates = sketch.NewHeavy[bareCount](mostCandidates, 0)
	}
	c := b.candidates.Add(0, hash, float64(count), sketch.Text(""))
	switch {
	case c == nil:
	case c.strays:
		b.addStray(key, hash, count, redact)
	default:
		c.count += count
	}
}

func (b *bareBook) addStray(key []byte, hash uint64, count int64, redact func(dst, key []byte) []byte) {
	b.stray += count
	b.keys.Add(hash)
	s := b.strays[hash]
	if s == nil {
		if len(b.strays) >= mostStrays {
			return
		}
		s = &strayCount{text: shown(key, redact)}
		b.strays[hash] = s
	}
	s.count += count
}

// report adds what was counted.
func (b *bareBook) report(r *Sharded) {
	if b == nil || b.stray == 0 {
		return
	}
	r.Bare, r.BareKeys = b.stray, strayKeys(len(b.strays), &b.keys)
	for _, s := range b.strays {
		r.Bares = append(r.Bares, Stray{Key: s.text, Count: s.count})
	}
	slices.SortFunc(r.Bares, compareStrays)
}

// strayKeys returns how many strays there are: so many that are named, or about as many as were counted.
func strayKeys(named int, counted *sketch.Distinct) Distinct {
	if n := counted.Count(); named >= mostStrays && n > mostStrays {
		return Distinct{Keys: n, Error: counted.Error()}
	}
	return Distinct{Keys: int64(named)}
}

// grownFrom returns how many shards a key had before it got more, as far as the shards show it: the first ones have about
// as much each, and those that came later have less. It is 0 if they do not look like that, or if it was a single shard:
// then a hash that does not spread the ids looks the same.
func grownFrom(counts []int64) int {
	first, begin, mean := 0, 0, 0.0
	for i, c := range counts {
		// Counts of items that are drawn at random differ from the mean of their group by this much at most, but once
		// in ten thousand times.
		const deviations = 4
		size := float64(i - begin)
		if size == 0 || sq(float64(c)-mean) <= sq(deviations)*2*max(1, mean) {
			mean = (mean*size + float64(c)) / (size + 1)
			continue
		}
		if float64(c) > mean || size < 2 {
			return 0
		}
		first, begin, mean = cmp.Or(first, i), i, float64(c)
	}
	return first
}

func sq(v float64) float64 { return v * v }
