package place

import "github.com/heatsink-go/heatsink/internal/attribute"

// Beside are the attributes that tell items of the same key apart: those that the shard is calculated from and that are
// not part of the key.
type Beside []string

// KeepSame sets those of the copies to nil that were found in one of the homes of like and are another item: they have the
// same key, but not the same attributes that the shard is calculated from. A copy that has none of these, as one that an
// update created, may be the same.
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

// SurelySame reports whether an item that was found in one of the homes of like is like's for certain.
func (b Beside) SurelySame(found, like Item) bool {
	for _, name := range b {
		if v := found[name]; v == nil || !attribute.Same(Item{name: v}, Item{name: like[name]}) {
			return false
		}
	}
	return true
}
