package heatsink

import (
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// weight is about how much memory an item takes, in bytes: what DynamoDB counts, and what maps and interfaces add.
type weight struct{ bytes, extra int }

func (w weight) total() int { return w.bytes + w.extra }

// What Go adds to every map and each of its entries, and to every value.
const (
	entryExtra = 64
	valueExtra = 32
)

// weigh returns an item's weight.
func weigh(item Item) weight {
	var w weight
	w.addMap(item)
	return w
}

// itemSize returns an item's weight in one number.
func itemSize(item Item) int { return weigh(item).total() }

func (w *weight) addMap(m Item) {
	w.extra += entryExtra
	for name, value := range m {
		w.extra += entryExtra
		w.bytes += len(name)
		w.add(value)
	}
}

func (w *weight) add(value types.AttributeValue) {
	w.extra += valueExtra
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		w.bytes += len(v.Value)
	case *types.AttributeValueMemberN:
		w.bytes += len(v.Value)
	case *types.AttributeValueMemberB:
		w.bytes += len(v.Value)
	case *types.AttributeValueMemberSS:
		addTexts(w, v.Value)
	case *types.AttributeValueMemberNS:
		addTexts(w, v.Value)
	case *types.AttributeValueMemberBS:
		addTexts(w, v.Value)
	case *types.AttributeValueMemberL:
		for _, e := range v.Value {
			w.add(e)
		}
	case *types.AttributeValueMemberM:
		w.addMap(v.Value)
	}
}

func addTexts[T string | []byte](w *weight, set []T) {
	w.extra += valueExtra * len(set)
	for _, e := range set {
		w.bytes += len(e)
	}
}

// pageWeight adds up a page.
type pageWeight struct {
	items   int
	all     weight
	largest int
}

// add returns the item's weight.
func (p *pageWeight) add(item Item) int {
	w := weigh(item)
	p.items++
	p.all.bytes += w.bytes
	p.all.extra += w.extra
	p.largest = max(p.largest, w.total())
	return w.total()
}

// estimate is how large a collection's items are, going by the pages that it has read lately, in bytes.
type estimate struct {
	known   bool    // there were some
	mean    float64 // of their weights
	largest float64 // of their weights
	extra   float64 // of an item's weight, on the page where it was the most
}

// firstEstimate is taken for true until something has been read.
var firstEstimate = estimate{mean: 4096, largest: 4096, extra: 512}

// sizes estimates how large a collection's items are.
type sizes struct {
	mu   sync.Mutex
	seen estimate
}

func (s *sizes) estimate() estimate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.seen.known {
		return firstEstimate
	}
	return s.seen
}

// saw takes note of a page. The mean follows the last few; what is meant to be an upper bound jumps up and comes down
// slowly.
func (s *sizes) saw(page pageWeight) {
	if page.items == 0 {
		return
	}
	n := float64(page.items)
	now := estimate{
		known: true, mean: float64(page.all.total()) / n, extra: float64(page.all.extra) / n,
		largest: float64(page.largest),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.seen; old.known {
		now.mean = old.mean + (now.mean-old.mean)/8
		now.largest = max(now.largest, old.largest+(now.largest-old.largest)/64)
		now.extra = max(now.extra, old.extra+(now.extra-old.extra)/64)
	}
	s.seen = now
}
