package attribute

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Size is about how much memory an item takes, in bytes: what DynamoDB counts, and what maps and interfaces add.
type Size struct{ Bytes, Extra int }

// Total returns the size in one number.
func (w Size) Total() int { return w.Bytes + w.Extra }

// What Go adds to every map and each of its entries, and to every value.
const (
	entryExtra = 64
	valueExtra = 32
)

// SizeOf returns an item's weight.
func SizeOf(item Item) Size {
	var w Size
	w.addMap(item)
	return w
}

// TotalSize returns an item's weight in one number.
func TotalSize(item Item) int { return SizeOf(item).Total() }

func (w *Size) addMap(m Item) {
	w.Extra += entryExtra
	for name, value := range m {
		w.Extra += entryExtra
		w.Bytes += len(name)
		w.add(value)
	}
}

func (w *Size) add(value types.AttributeValue) {
	w.Extra += valueExtra
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		w.Bytes += len(v.Value)
	case *types.AttributeValueMemberN:
		w.Bytes += len(v.Value)
	case *types.AttributeValueMemberB:
		w.Bytes += len(v.Value)
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

func addTexts[T string | []byte](w *Size, set []T) {
	w.Extra += valueExtra * len(set)
	for _, e := range set {
		w.Bytes += len(e)
	}
}
