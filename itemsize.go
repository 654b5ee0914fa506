package heatsink

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/gather"
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

// addTo adds an item's weight to that of its page.
func (w weight) addTo(page *gather.Weight) {
	page.Entries++
	page.Bytes += w.bytes
	page.Extra += w.extra
	page.Largest = max(page.Largest, w.total())
}
