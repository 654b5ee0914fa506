package heat

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/heatsink-go/heatsink/internal/figure"
)

// A scan of a part of a table reads random segments to their ends. All items of a key are in one segment, so a segment has
// whole keys. The first items of every segment would be the same keys each time, and a part of the last one.
const (
	wholeSegments   = 16        // of a table that is read to its end
	sampledSegments = 256       // that a sample should have
	segmentItems    = 10        // that a segment should have: a request for less costs as much
	mostSegments    = 1_000_000 // DynamoDB's limit
	mostOfSegment   = 10        // a segment may have one in so many items of the sample: the others must have room
)

// samples reports whether a scan reads a sample of a table with about so many items.
func (o ScanOptions) samples(of int64) bool { return o.Segments == 0 && of > o.Items }

// segments returns how many segments a table with about so many items is read in.
func (o ScanOptions) segments(of int64) int {
	switch {
	case o.Segments > 0:
		return o.Segments
	case !o.samples(of):
		return wholeSegments
	}
	n := math.Ceil(sampledSegments * float64(of) / float64(o.Items))
	return int(max(wholeSegments, min(n, float64(of)/segmentItems, mostSegments)))
}

// draw draws segments without repeating one: the shuffle of Fisher and Yates, of which only what was drawn is kept.
type draw struct {
	r     *rand.Rand
	of    int
	drawn int
	moved map[int]int
}

func newDraw(of int, seed uint64) *draw {
	return &draw{r: rand.New(rand.NewPCG(seed, uint64(of))), of: of, moved: make(map[int]int)}
}

// next returns another segment, and false if there is none.
func (d *draw) next() (int32, bool) {
	if d.drawn == d.of {
		return 0, false
	}
	at := func(i int) int {
		if to, ok := d.moved[i]; ok {
			return to
		}
		return i
	}
	i := d.drawn + d.r.IntN(d.of-d.drawn)
	picked := at(i)
	d.moved[i] = at(d.drawn)
	delete(d.moved, d.drawn)
	d.drawn++
	return int32(picked), true
}

// runSample reads random segments until enough items were read. One that is much larger than the others is left open: the
// large key in it is known by then, and the others come first.
func (s *scan) runSample(ctx context.Context) error {
	most := max(1, s.options.Items/mostOfSegment)
	for s.options.Items-s.items >= most/2 && s.items < s.options.Items { // a large key in the last one needs room to show
		number, ok := s.sample.next()
		if !ok {
			return nil
		}
		part, more := segment{number: number}, true
		for before := s.items; more && s.items < s.options.Items && s.items-before < most; {
			if err := s.pace(ctx); err != nil {
				return err
			}
			var err error
			if more, err = s.page(ctx, &part); err != nil {
				return err
			}
		}
		if s.begun++; more {
			s.open = append(s.open, part)
		} else {
			s.ended++
		}
	}
	return nil
}

// fraction returns the part of the segments that were read, at least to some point.
func (s *scan) fraction() float64 {
	fraction := float64(s.begun) / float64(s.segments)
	if len(s.open) > 0 {
		fraction = min(fraction, float64(s.items)/float64(max(s.expected.Of, s.items+1)))
	}
	return fraction
}

// confidence says what a sample shows, and how likely it shows a key.
func (s *scan) confidence() []string {
	p := float64(s.begun) / float64(s.segments)
	notes := []string{fmt.Sprintf("a sample: %s items of %s random segments out of %s (seed %d); any one key is in it with a probability of %s",
		figure.Thousands(s.items), figure.Thousands(s.begun), figure.Thousands(s.segments), s.options.Seed, percentText(p))}
	if p > 0 {
		keys := math.Ceil(math.Log(0.05) / math.Log1p(-p))
		notes = append(notes, fmt.Sprintf("a shape of key that %s keys have or more is in the sample with a probability of 95 %%", figure.Thousands(keys)))
	}
	return append(notes, s.missing(p)...)
}

// missing says where the other items are if, by the table's count, there are many more than in segments like those read.
func (s *scan) missing(p float64) []string {
	seen := float64(s.items) / max(p, 1e-9)
	if s.begun < wholeSegments || seen >= 0.75*float64(s.expected.Of) {
		return nil
	}
	where := "likely a few large keys that are not in the sample have the rest; another seed, or all items, show them"
	if top := s.inventory.resources[0].keys.Top(0, 1); len(s.open) > 0 && len(top) > 0 && top[0].Low >= 0.5*float64(s.options.Items/mostOfSegment) {
		where = fmt.Sprintf("likely '%s' has much of the rest, since its segment was not read to its end: it has at least %s items",
			top[0].Text, figure.Thousands(math.Round(top[0].Low)))
	}
	return []string{fmt.Sprintf("segments like these would have %s of the table's %s items: %s",
		figure.Thousands(math.Round(seen)), figure.Thousands(s.expected.Of), where)}
}

func percentText(p float64) string {
	if p < 0.01 {
		return fmt.Sprintf("%.2g %%", 100*p)
	}
	return fmt.Sprintf("%.0f %%", 100*p)
}
