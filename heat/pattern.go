package heat

import (
	"cmp"
	"math"
	"slices"

	"github.com/heatsink-go/heatsink/internal/shape"
	"github.com/heatsink-go/heatsink/internal/sketch"
)

// patternTable counts the keys of a flow by their shape, in fixed memory. A key is looked at when the sketch takes it up,
// so a key that stays there costs nothing more. Of those that the sketch does not take up, one in eight is, and stands for
// eight: always the same ones, so that a key counts once however often it comes.
//
// Shapes are learnt: what varies in a place is known when keys were seen. So keys are counted by the leaves of a tree, and
// only a report puts leaves together.
type patternTable struct {
	tree   *shape.Tree
	leaves []*patternCount // by leaf; nil: it has become part of another
}

type patternCount struct {
	example     string
	taken       tally // keys that the sketch took up
	takes       int64 // how often it took one up: once for each key while it has room for all
	sample      tally // keys of the sample
	takenSample tally // keys of the sample that the sketch took up
	units       float64
}

const sampleOf = 8 // keys of which one is looked at

func newPatternTable() *patternTable {
	p := &patternTable{}
	p.tree = shape.NewTree(p.merge)
	return p
}

// merge is called when a leaf becomes part of another.
func (p *patternTable) merge(into, from int32) {
	p.leaves[into].merge(p.leaves[from])
	p.leaves[from] = nil
}

func (c *patternCount) merge(other *patternCount) {
	c.taken.merge(&other.taken)
	c.sample.merge(&other.sample)
	c.takenSample.merge(&other.takenSample)
	c.takes += other.takes
	c.units += other.units
}

// take notes a key that the sketch took up, and returns the number of its leaf. passed are its units that pass has
// counted; from now on they count for themselves alone. Of hidden keys nothing is kept but their number.
func (p *patternTable) take(key []byte, hash uint64, passed float64, hidden bool) int32 {
	leaf := p.of(key, hidden)
	c := p.leaves[leaf]
	c.taken.add(hash)
	c.takes++
	c.units += passed
	if inSample(hash) {
		c.sample.add(hash)
		c.takenSample.add(hash)
		c.units = max(0, c.units-sampleOf*passed)
	}
	return leaf
}

// pass notes a key that the sketch did not take up, and its units.
func (p *patternTable) pass(key []byte, hash uint64, units float64, hidden bool) {
	if inSample(hash) {
		c := p.leaves[p.of(key, hidden)]
		c.sample.add(hash)
		c.units += sampleOf * units
	}
}

// inSample reports whether a key stands for eight, by a part of the hash that is the same in every process.
func inSample(hash uint64) bool { return hash>>32%sampleOf == 0 }

// of returns the leaf of a key.
func (p *patternTable) of(key []byte, hidden bool) int32 {
	if hidden {
		return p.room(p.tree.Hidden(), nil)
	}
	return p.room(p.tree.Learn(key), key)
}

// room makes the count of a leaf that is new.
func (p *patternTable) room(leaf int32, key []byte) int32 {
	for int(leaf) >= len(p.leaves) {
		p.leaves = append(p.leaves, nil)
	}
	if p.leaves[leaf] == nil {
		p.leaves[leaf] = &patternCount{example: shown(key, nil)}
	}
	return leaf
}

// count adds units to a leaf.
func (p *patternTable) count(leaf int32, units float64) { p.at(leaf).units += units }

// at returns the count of what a leaf has become.
func (p *patternTable) at(leaf int32) *patternCount { return p.leaves[p.tree.Leaf(leaf)] }

// weight returns how much was seen of a leaf, in units.
func (p *patternTable) weight(leaf int32) float64 { return p.leaves[leaf].units }

// shapes is what a table has learnt: its patterns, and the shape of each leaf.
type shapes struct {
	table    *patternTable
	patterns []Pattern
	names    map[int32]string
}

// constantItems is how many stored items show that their key is a constant, although it looks like a name. Of requests, any
// number may be for one of many.
const constantItems = 100

// report returns what was learnt. roomy says that the sketch had room for all keys: then their numbers are exact. constant
// is constantItems for items, else 0.
func (p *patternTable) report(d Direction, roomy bool, constant float64) *shapes {
	s := &shapes{table: p, names: make(map[int32]string)}
	for _, known := range p.tree.Shapes(p.weight, constant) {
		pattern := Pattern{Shape: known.Text, Sharded: sharded(known.Text)}
		var sum patternCount
		for _, leaf := range known.Leaves {
			s.names[leaf] = known.Text
			c := p.leaves[leaf]
			pattern.Example = cmp.Or(pattern.Example, c.example)
			sum.merge(c)
		}
		pattern.add(&sum, d, roomy)
		for _, v := range known.Values {
			value := PatternValue{Value: v.Text, Key: p.leaves[v.Leaf].example}
			value.add(d, p.leaves[v.Leaf].units)
			pattern.Values = append(pattern.Values, value)
		}
		sortValues(pattern.Values)
		s.patterns = append(s.patterns, pattern)
	}
	return s
}

// of returns the shape of a leaf, "" for none.
func (s *shapes) of(leaf int32) string {
	if leaf < 0 {
		return ""
	}
	return s.names[s.table.tree.Leaf(leaf)]
}

func (p *Pattern) add(c *patternCount, d Direction, roomy bool) {
	p.Distinct.Keys, p.Distinct.Error = c.keys()
	if roomy {
		p.Distinct = Distinct{Keys: c.takes}
	}
	if d == Read {
		p.Reads = c.units
	} else {
		p.Writes = c.units
	}
}

func (v *PatternValue) add(d Direction, units float64) {
	if d == Read {
		v.Reads += units
	} else {
		v.Writes += units
	}
}

// keys returns how many keys there were, and the relative standard error of that.
func (c *patternCount) keys() (n int64, err float64) {
	n, err = c.taken.count()
	// Those of the sample that were never taken up stand for eight each.
	all, _ := c.sample.count()
	taken, _ := c.takenSample.count()
	if passed := all - taken; passed > 0 {
		return n + sampleOf*passed, math.Hypot(err, math.Sqrt((1-1.0/sampleOf)/float64(passed)))
	}
	return n, err
}

// tally counts different hashes, exactly while they are few.
type tally struct {
	n    int
	few  [fewKeys]uint64
	many sketch.Distinct
}

const fewKeys = 8

func (t *tally) add(hash uint64) {
	if t.n > fewKeys {
		t.many.Add(hash)
		return
	}
	if slices.Contains(t.few[:t.n], hash) {
		return
	}
	if t.n < fewKeys {
		t.few[t.n] = hash
		t.n++
		return
	}
	t.spill()
	t.many.Add(hash)
}

// spill begins to estimate.
func (t *tally) spill() {
	t.many = sketch.NewDistinct(8) // 256 bytes, 6.5 %
	for _, hash := range t.few[:t.n] {
		t.many.Add(hash)
	}
	t.n = fewKeys + 1
}

func (t *tally) merge(other *tally) {
	if other.n <= fewKeys {
		for _, hash := range other.few[:other.n] {
			t.add(hash)
		}
		return
	}
	if t.n <= fewKeys {
		t.spill()
	}
	t.many.Merge(&other.many)
}

// count returns the number and its relative standard error, 0 if it is exact.
func (t *tally) count() (n int64, err float64) {
	if t.n <= fewKeys {
		return int64(t.n), 0
	}
	return t.many.Count(), t.many.Error()
}

// mergePatterns puts the patterns of reads and writes together, those of most units first. Keys that are only read and keys
// that are only written may be learnt apart: of two shapes for the same keys both stay.
func mergePatterns(reads, writes []Pattern) []Pattern {
	all := slices.Clone(reads)
	for _, w := range writes {
		i := slices.IndexFunc(all, func(p Pattern) bool { return p.Shape == w.Shape })
		if i < 0 {
			all = append(all, w)
			continue
		}
		all[i].Writes = w.Writes
		if w.Distinct.Keys > all[i].Distinct.Keys {
			all[i].Distinct = w.Distinct
		}
		all[i].Values = mergeValues(all[i].Values, w.Values)
	}
	slices.SortFunc(all, func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(b.Reads+b.Writes, a.Reads+a.Writes), cmp.Compare(a.Shape, b.Shape))
	})
	return all
}

func mergeValues(reads, writes []PatternValue) []PatternValue {
	all := slices.Clone(reads)
	for _, w := range writes {
		if i := slices.IndexFunc(all, func(v PatternValue) bool { return v.Value == w.Value }); i >= 0 {
			all[i].Writes = w.Writes
		} else {
			all = append(all, w)
		}
	}
	sortValues(all)
	return all
}

// sortValues orders values, those of most units or items first.
func sortValues(values []PatternValue) {
	slices.SortFunc(values, func(a, b PatternValue) int {
		return cmp.Or(cmp.Compare(b.Reads+b.Writes, a.Reads+a.Writes), cmp.Compare(b.Items, a.Items), cmp.Compare(a.Value, b.Value))
	})
}
