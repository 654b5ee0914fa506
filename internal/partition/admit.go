package partition

import (
	"slices"
	"time"
)

// Charge is what a request costs on one set: an item that is read or written, an
// entry of an index, or a page.
type Charge struct {
	Set *Set

	// Place is where: the hash of the partition key, eight bytes in the order
	// of their significance, then the rest of the key in an encoding whose
	// order is that of the keys. For a page it is where reading started. It is
	// not kept.
	Place []byte

	// To is where a page ended, if it went further than Place: what it cost is
	// spread over the partitions in between. Nil otherwise. A page that was read
	// backwards has it below Place.
	To []byte

	// Read and Write are capacity units. What is not positive is neither
	// charged nor checked.
	Read, Write float64

	// Eventual says that the read is eventually consistent, see
	// Options.EventualReads. Its units are halved already.
	Eventual bool

	// Bytes is by how much the data at Place becomes more, or less.
	Bytes int64
}

// Admit lets a request pass and charges it for everything, or refuses it and
// charges nothing: a write must fit into the table and every index that it
// changes. A charge fits if its partition, and its set as a whole, have anything
// left; what it costs beyond that is owed. The answer to a refusal lists every
// limit that stood in the way.
//
// Several sets may be involved, and one of them several times. Refusals are
// counted as throttle events, once for each set.
func Admit(now time.Time, charges ...Charge) *Throttle {
	var room [setsInPlace]*Set
	sets := setsOf(room[:0], charges)
	lock(sets)
	defer unlock(sets)
	enter(sets, now)
	throttle := check(charges)
	if throttle == nil {
		take(charges)
	}
	return throttle
}

// Check is Admit without charging anything: for requests whose cost is known only
// when they are done, such as a Query. Any positive number of units will do. Of
// the partitions of a page, only the first is asked.
func Check(now time.Time, charges ...Charge) *Throttle {
	var room [setsInPlace]*Set
	sets := setsOf(room[:0], charges)
	lock(sets)
	defer unlock(sets)
	enter(sets, now)
	return check(charges)
}

// Offer is Admit for work that nobody waits for, such as filling an index. It comes
// again when it is refused, so that a refusal is no throttle event.
func Offer(now time.Time, charges ...Charge) bool {
	var room [setsInPlace]*Set
	sets := setsOf(room[:0], charges)
	lock(sets)
	defer unlock(sets)
	enter(sets, now)
	for i := range charges {
		if charges[i].Set.exceeds(&charges[i]) != 0 {
			return false
		}
	}
	take(charges)
	return true
}

// Settle charges what has been done already, after Check. It refuses nothing:
// what is not there is owed.
func Settle(now time.Time, charges ...Charge) {
	var room [setsInPlace]*Set
	sets := setsOf(room[:0], charges)
	lock(sets)
	defer unlock(sets)
	enter(sets, now)
	take(charges)
}

// setsInPlace is how many sets a request may involve without allocating memory.
const setsInPlace = 8

// setsOf appends each set that the charges are on, in the order of their numbers.
func setsOf(sets []*Set, charges []Charge) []*Set {
	for i := range charges {
		s := charges[i].Set
		at := len(sets)
		for at > 0 && sets[at-1].id > s.id {
			at--
		}
		if at == 0 || sets[at-1] != s {
			sets = slices.Insert(sets, at, s)
		}
	}
	return sets
}

// lock locks sets, which are in the order of their numbers.
func lock(sets []*Set) {
	for _, s := range sets {
		s.mu.Lock()
	}
}

// enter brings locked sets to the present.
func enter(sets []*Set, now time.Time) {
	for _, s := range sets {
		s.enter(now)
	}
}

func unlock(sets []*Set) {
	for _, s := range sets {
		s.mu.Unlock()
	}
}

// check returns what refuses the charges, nil if nothing does.
func check(charges []Charge) *Throttle {
	var throttle *Throttle
	for i := range charges {
		c := &charges[i]
		if e := c.Set.exceeds(c); e != 0 {
			if throttle == nil {
				throttle = &Throttle{}
			}
			throttle.add(i, c.Set, e)
		}
	}
	if throttle != nil {
		count(throttle, charges)
	}
	return throttle
}

// exceeds returns the limits that refuse a charge.
func (s *Set) exceeds(c *Charge) exceeded {
	var e exceeded
	if c.Read > 0 {
		s.flows[read].exceeds(read, s.now, &e)
	}
	if c.Write > 0 {
		s.flows[write].exceeds(write, s.now, &e)
	}
	if c.Read > 0 || c.Write > 0 {
		s.partitions[s.find(boundOf(c.Place))].exceeds(c, s.now, &e)
	}
	return e
}

// count counts a refused request: in each set that refused it, as one event with
// all its reasons, and in the partitions concerned, by units.
func count(t *Throttle, charges []Charge) {
	for i := range charges {
		if c := &charges[i]; t.Throttled(i) {
			c.Set.partitions[c.Set.find(boundOf(c.Place))].refuse(c.Set, c)
		}
	}
	for i, c := range t.Causes {
		if slices.ContainsFunc(t.Causes[:i], func(o Cause) bool { return o.Set == c.Set }) {
			continue
		}
		var all exceeded
		for _, o := range t.Causes[i:] {
			if o.Set == c.Set {
				all.add(o.direction, o.limit)
			}
		}
		c.Set.minutes.latest().throttle(all)
	}
}

// take charges.
func take(charges []Charge) {
	for i := range charges {
		charges[i].Set.take(&charges[i])
	}
}

func (s *Set) take(c *Charge) {
	reads, writes := amountOf(c.Read), amountOf(c.Write)
	if reads > 0 {
		s.flows[read].take(reads, s.now)
		s.consume(read, reads.units())
	}
	if writes > 0 {
		s.flows[write].take(writes, s.now)
		s.consume(write, writes.units())
	}
	i := s.find(boundOf(c.Place))
	if c.To != nil {
		s.takeRange(i, c, reads, writes)
	} else {
		s.partitions[i].serve(s, c.Place, reads, writes, c.Eventual)
	}
	if c.Bytes != 0 {
		s.grow(s.partitions[i], c.Bytes)
	}
}

func (s *Set) consume(d direction, units float64) {
	s.consumed[d] += units
	s.minutes.latest().consumed[d] += units
}

// takeRange spreads a page over the partitions that it went through: by the
// number of hashes that it covers in each, since collections are spread evenly
// over the hashes, or in equal parts if it lies in one collection. What is
// remembered of it for a split is either of its ends.
func (s *Set) takeRange(i int, c *Charge, reads, writes amount) {
	first, last := c.Place, c.To
	from, to, end := boundOf(first), boundOf(last), s.find(boundOf(last))
	if from.compare(to) > 0 {
		first, last, from, to, i, end = last, first, to, from, end, i
	}
	if i == end && s.chance() < 0.5 {
		last = first
	}
	total := s.covered(i, end, from, to)
	for at := first; i < end; i++ {
		share := s.covered(i, i, from, to) / total
		r, w := amount(float64(reads)*share), amount(float64(writes)*share)
		s.partitions[i].serve(s, at, r, w, c.Eventual)
		reads, writes, total = reads-r, writes-w, total*(1-share)
		at = s.partitions[i+1].lower.place()
	}
	s.partitions[end].serve(s, last, reads, writes, c.Eventual)
}

// covered measures how much of partitions i to last lies between two bounds.
func (s *Set) covered(i, last int, from, to bound) float64 {
	sum := 0.0
	for ; i <= last; i++ {
		sum++
		if from.hash != to.hash {
			sum += s.width(i, from, to)
		}
	}
	return sum
}
