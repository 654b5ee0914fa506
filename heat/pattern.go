package heat

import (
	"cmp"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/heatsink-go/heatsink/internal/sketch"
)

// patternTable counts the keys of a flow by their shape, in fixed memory. A key is looked at when the sketch takes it up,
// so a key that stays there costs nothing more. Of those that the sketch does not take up, one in eight is, and stands for
// eight: always the same ones, so that a key counts once however often it comes.
//
// Words are taken for what does not vary. If there are many with everything else alike, as names of tenants in capitals,
// they vary after all: the shapes then become one, in which the words are {id}.
type patternTable struct {
	index    map[uint64]int32 // hash of a shape to its place in all
	families map[uint64]int   // hash of a shape with its words but the first replaced: how many shapes it has
	all      []patternCount
}

type patternCount struct {
	shape, example string
	family         uint64          // 0 if the shape has no words to replace
	taken          sketch.Distinct // keys that the sketch took up
	takes          int64           // how often it took one up: once for each key while it has room for all
	sample         sketch.Distinct // keys of the sample
	takenSample    sketch.Distinct // keys of the sample that the sketch took up
	units          float64
}

const (
	mostPatterns = 64 // shapes of a flow
	mostSiblings = 16 // shapes of a family before it becomes one
	sampleOf     = 8  // keys of which one is looked at
)

func newPatternTable() patternTable {
	return patternTable{index: make(map[uint64]int32), families: make(map[uint64]int)}
}

// take notes a key that the sketch took up, and returns the number of its shape. passed are its units that pass has
// counted; from now on they count for themselves alone. Of hidden keys nothing is kept but their number.
func (p *patternTable) take(key []byte, hash uint64, passed float64, hidden bool) int32 {
	id := p.of(key, hidden)
	c := &p.all[id]
	c.taken.Add(hash)
	c.takes++
	c.units += passed
	if inSample(hash) {
		c.sample.Add(hash)
		c.takenSample.Add(hash)
		c.units = max(0, c.units-sampleOf*passed)
	}
	return id
}

// pass notes a key that the sketch did not take up, and its units.
func (p *patternTable) pass(key []byte, hash uint64, units float64, hidden bool) {
	if inSample(hash) {
		c := &p.all[p.of(key, hidden)]
		c.sample.Add(hash)
		c.units += sampleOf * units
	}
}

// inSample reports whether a key stands for eight, by a part of the hash that is the same in every process.
func inSample(hash uint64) bool { return hash>>32%sampleOf == 0 }

// of returns the number of a key's shape.
func (p *patternTable) of(key []byte, hidden bool) int32 {
	var scratch [256]byte
	if hidden {
		return p.find(append(scratch[:0], "{hidden}"...), key, hidden)
	}
	return p.find(appendShape(scratch[:0], key), key, hidden)
}

// find returns the number of a shape, or of the more general one that it is counted as.
func (p *patternTable) find(shape, key []byte, hidden bool) int32 {
	if id, ok := p.index[xxhash.Sum64(shape)]; ok {
		return id
	}
	wider := family(shape)
	siblings := xxhash.Sum64(wider)
	_, known := p.families[siblings]
	switch {
	case p.families[siblings] >= mostSiblings:
		p.families[siblings] = mostSiblings + 1
		shape = wider
	case string(wider) != string(shape) && (known || len(p.families) < mostPatterns):
		p.families[siblings]++
	}
	if len(p.all) >= mostPatterns-1 {
		shape = general(nil, shape, false) // so many kinds of keys: their first words are names as well
	}
	if id, ok := p.index[xxhash.Sum64(shape)]; ok {
		return id
	}
	if len(p.all) >= mostPatterns {
		return p.others()
	}
	return p.add(string(shape), siblings, key, hidden)
}

func (p *patternTable) add(shape string, family uint64, key []byte, hidden bool) int32 {
	id := int32(len(p.all))
	few := func() sketch.Distinct { return sketch.NewDistinct(8) } // 256 bytes, 6.5 %
	count := patternCount{shape: shape, family: family, taken: few(), sample: few(), takenSample: few()}
	if !hidden {
		count.example = string(key[:min(len(key), sketch.MaxText)])
	}
	p.all = append(p.all, count)
	p.index[xxhash.Sum64String(shape)] = id
	return id
}

// others returns the number of the pattern for all that found no room.
func (p *patternTable) others() int32 {
	const shape = "{other}"
	if id, ok := p.index[xxhash.Sum64String(shape)]; ok {
		return id
	}
	return p.add(shape, 0, nil, true)
}

// count adds units to a pattern.
func (p *patternTable) count(id int32, units float64) { p.all[id].units += units }

// report returns the patterns, the shapes of a family that became one put together. roomy says that the sketch had room for
// all keys: then their numbers are exact.
func (p *patternTable) report(d Direction, roomy bool) []Pattern {
	var patterns []Pattern
	for i := range p.all {
		c := &p.all[i]
		shape := c.shape
		if p.families[c.family] > mostSiblings {
			shape = string(family([]byte(shape)))
		}
		at := slices.IndexFunc(patterns, func(p Pattern) bool { return p.Shape == shape })
		if at < 0 {
			at = len(patterns)
			patterns = append(patterns, Pattern{Shape: shape, Example: c.example, Sharded: sharded(shape)})
		}
		patterns[at].merge(c, d, roomy)
	}
	return patterns
}

func (p *Pattern) merge(c *patternCount, d Direction, roomy bool) {
	keys, err := c.keys()
	if roomy {
		keys, err = c.takes, 0
	}
	p.Distinct.Keys += keys // of different shapes: no key is in two
	if p.Distinct.Keys > fewKeys {
		p.Distinct.Error = max(p.Distinct.Error, err)
	}
	if d == Read {
		p.Reads += c.units
	} else {
		p.Writes += c.units
	}
}

// keys returns how many keys there were, and the relative standard error of that.
func (c *patternCount) keys() (n int64, err float64) {
	n, err = c.taken.Count(), c.taken.Error()
	// Those of the sample that were never taken up stand for eight each.
	if passed := c.sample.Count() - c.takenSample.Count(); passed > 0 {
		return n + sampleOf*passed, math.Hypot(err, math.Sqrt((1-1.0/sampleOf)/float64(passed)))
	}
	return n, err
}

// fewKeys is up to how many keys the count of a pattern is right to the key: with 256 registers two keys share one too
// seldom to matter.
const fewKeys = 8

// mergePatterns puts the patterns of reads and writes together, those of most units first.
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
	}
	slices.SortFunc(all, func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(b.Reads+b.Writes, a.Reads+a.Writes), cmp.Compare(a.Shape, b.Shape))
	})
	return all
}
