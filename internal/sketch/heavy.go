package sketch

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"
)

// Heavy keeps the heaviest keys of a stream: Space-Saving (Metwally et al. 2005) behind a filter (Homem and Carvalho
// 2010), with weights that decay forward (Cormode et al. 2009).
//
// There are m entries. A key that has one gets its weight added. Keys that have none share the cells of the filter by
// their hashes: a cell holds at least what each of its keys weighs. When a cell would become heavier than the lightest
// entry, the key that it grew for takes over that entry. It starts with what was in the cell, which becomes its error, as
// it may have been that heavy before without anybody knowing; and the key that loses its entry leaves its weight in its
// own cell. A cell is never heavier than the lightest entry, so for every key of the stream, with W the weight of all of
// it:
//
//	Low <= true weight <= High,  High - Low <= W / m,  and a key heavier than W / m has an entry
//
// Weights lose value by the factor e every Decay. Instead of touching all of them as time goes by, new ones are
// multiplied by e^((now-start)/Decay), and divided by it when read; the start is moved before numbers get too large.
//
// P is what the caller keeps beside a key, counted from when the key got its entry; it starts at zero.
type Heavy[P any] struct {
	decay time.Duration // 0: none
	start int64         // nanoseconds; where the factor is 1
	last  moment        // the last factor that was worked out
	total float64       // weight of everything, scaled as the entries' are

	entries []entry[P]
	weights []float64 // of the entries, scaled; apart from them as it is all that most calls need
	index   table     // hash of a key to its entry
	heap    heap
	filter  []float64 // weights of keys without an entry, scaled; as many as a power of two
}

// cellsPerEntry is how many cells the filter has. With eight, of keys that are all alike three in ten take an entry over each
// time they come; without a filter all of them would.
const cellsPerEntry = 8

type moment struct {
	now    int64
	factor float64
}

type entry[P any] struct {
	hash  uint64
	err   float64 // scaled
	text  text
	extra P
}

// Weighed is a key and its weight.
type Weighed[P any] struct {
	Text      string // at most MaxText bytes; see Add
	Hash      uint64
	High, Low float64
	Extra     P
}

// NewHeavy returns a sketch of so many keys. Without a decay weights stay what they are.
func NewHeavy[P any](entries int, decay time.Duration) *Heavy[P] {
	entries = max(1, entries)
	return &Heavy[P]{
		decay:   decay,
		entries: make([]entry[P], 0, entries),
		weights: make([]float64, entries),
		index:   newTable(entries),
		heap:    make(heap, 0, entries),
		filter:  make([]float64, 1<<bits.Len(uint(cellsPerEntry*entries-1))),
	}
}

// Add adds weight, which is not negative, to a key at a time in nanoseconds. It returns what is kept beside the key, or nil
// if the key has no entry. The key is known by its hash; keep says what is kept of its text, and is called only when the
// key gets an entry. Time may go back: what is older weighs less.
func (h *Heavy[P]) Add(now int64, hash uint64, weight float64, keep func(dst []byte) []byte) *P {
	scaled := weight * h.scale(now)
	h.total += scaled
	if i, ok := h.index.get(hash); ok {
		h.weights[i] += scaled
		return &h.entries[i].extra
	}
	if len(h.entries) < cap(h.entries) {
		return h.insert(hash, scaled, keep)
	}
	cell := h.cell(hash)
	if lightest := h.heap.lightest(h.weights); *cell+scaled > h.weights[lightest] {
		return h.takeOver(lightest, hash, scaled, keep)
	}
	*cell += scaled
	return nil
}

// Extra returns what is kept beside a key, or nil if the key has no entry. It adds nothing.
func (h *Heavy[P]) Extra(hash uint64) *P {
	if i, ok := h.index.get(hash); ok {
		return &h.entries[i].extra
	}
	return nil
}

func (h *Heavy[P]) cell(hash uint64) *float64 { return &h.filter[hash&uint64(len(h.filter)-1)] }

// Text returns a keep for Add of a text.
func Text(s string) func(dst []byte) []byte {
	return func(dst []byte) []byte { return append(dst, s...) }
}

func (h *Heavy[P]) insert(hash uint64, scaled float64, keep func([]byte) []byte) *P {
	i := int32(len(h.entries))
	h.entries = append(h.entries, entry[P]{hash: hash})
	e := &h.entries[i]
	e.text.set(hash, keep)
	h.index.put(hash, i)
	h.weights[i] = scaled
	h.heap.push(node{scaled, i})
	return &e.extra
}

// takeOver gives the lightest entry, which is at the top of the heap, to another key.
func (h *Heavy[P]) takeOver(lightest int32, hash uint64, scaled float64, keep func([]byte) []byte) *P {
	e := &h.entries[lightest]
	err := *h.cell(hash)
	*h.cell(e.hash) = h.weights[lightest] // not below what was there
	h.index.remove(e.hash)
	h.index.put(hash, lightest)
	var zero P
	e.hash, e.err, e.extra = hash, err, zero
	e.text.set(hash, keep)
	h.weights[lightest] = err + scaled
	return &e.extra
}

// Total returns the weight of everything, with and without an entry, decayed to now.
func (h *Heavy[P]) Total(now int64) float64 { return h.total / h.scale(now) }

// Len returns how many keys have an entry.
func (h *Heavy[P]) Len() int { return len(h.entries) }

// Full reports whether some key may have been left out.
func (h *Heavy[P]) Full() bool { return len(h.entries) == cap(h.entries) }

// Top returns the n heaviest keys, heaviest first, by what they surely weigh at least.
func (h *Heavy[P]) Top(now int64, n int) []Weighed[P] {
	scale := h.scale(now)
	all := make([]Weighed[P], 0, len(h.entries))
	for i := range h.entries {
		e := &h.entries[i]
		weight := h.weights[i]
		all = append(all, Weighed[P]{
			Text: e.text.String(), Hash: e.hash, High: weight / scale, Low: max(0, weight-e.err) / scale, Extra: e.extra,
		})
	}
	slices.SortFunc(all, func(a, b Weighed[P]) int {
		return cmp.Or(cmp.Compare(b.Low, a.Low), cmp.Compare(b.High, a.High), cmp.Compare(a.Text, b.Text))
	})
	return all[:min(n, len(all))]
}

// most is the largest exponent that is used: e^60 times the weights of a year is far below what a float64 holds exactly
// enough.
const most = 60

// scale returns the factor of a time, and moves the start before it becomes too large. It is the same for as long as it
// changes by less than a thousandth of a percent, as working it out takes longer than everything else.
func (h *Heavy[P]) scale(now int64) float64 {
	if h.decay == 0 {
		return 1
	}
	if d := now - h.last.now; h.last.factor != 0 && d >= 0 && d < int64(h.decay/100_000) {
		return h.last.factor
	}
	if h.start == 0 {
		h.start = now
	}
	exponent := float64(now-h.start) / float64(h.decay)
	if exponent > most {
		h.rescale(math.Exp(-exponent))
		h.start, exponent = now, 0
	}
	h.last = moment{now, math.Exp(exponent)}
	return h.last.factor
}

// rescale multiplies all weights. Their order stays, but for those that become too small to tell apart.
func (h *Heavy[P]) rescale(factor float64) {
	h.total *= factor
	for i := range h.entries {
		h.entries[i].err *= factor
	}
	for i := range h.weights {
		h.weights[i] *= factor
	}
	for i := range h.heap {
		h.heap[i].weight *= factor
	}
	for i := range h.filter {
		h.filter[i] *= factor
	}
}
