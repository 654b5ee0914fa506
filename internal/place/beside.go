package place

import "github.com/heatsink-go/heatsink/internal/attribute"

// Beside are the attributes that distinguish items with the same key: those that the shard is calculated from and that
// are not part of the key.
type Beside []string

// KeepSame sets copies that are another item than like to nil. Such a copy has the same key, but other values in the
// attributes that the shard is calculated from. A copy that lacks these attributes, for example because an update created
// it, may be the same item.
func (b Beside) KeepSame(copies []Item, like Item) {
	for i, item := range copies {
		if item != nil && b.differs(item, like) {
			copies[i] = nil
		}
	}
}

func (b Beside) differs(found, like Item) bool {
	for _, name := range b {
		if v := found[name]; v != nil && !attribute.Same(Item{name: v}, Item{name: like[name]}) {
			return true
		}
	}
	return false
}

// SurelySame reports whether an item from one of the homes of like is certainly the same item as like.
func (b Beside) SurelySame(found, like Item) bool {
	for _, name := range b {
		if v := found[name]; v == nil || !attribute.Same(Item{name: v}, Item{name: like[name]}) {
			return false
		}
	}
	return true
}
