package attr

import (
	"encoding/binary"
	"errors"
)

// Raw is an item as it is stored: its size as DynamoDB counts it, the number
// of its fields, and the fields. Equal items have equal bytes.
//
//	item  = uvarint(size) uvarint(fields) { name value }
//	value = kind { uvarint(len) bytes | uvarint(elements) { element } | uvarint(fields) { name value } }
//	name  = uvarint(len) bytes
//
// A set's elements have no kind of their own; booleans are two kinds.
type Raw []byte

const falseTag = byte(Bool) + 1

// ErrDamaged is the error of stored bytes that AppendRaw did not make.
var ErrDamaged = errors.New("stored item is damaged")

// AppendRaw appends the stored form of an item whose size is known.
func AppendRaw(dst []byte, it Item, size int) Raw {
	dst = binary.AppendUvarint(dst, uint64(size))
	return appendFields(dst, it)
}

// NewRaw returns the stored form of an item.
func NewRaw(it Item) Raw {
	size := it.Size()
	return AppendRaw(make([]byte, 0, size+8+3*len(it)), it, size)
}

func appendFields(dst []byte, it Item) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(it)))
	for i := range it {
		dst = appendText(dst, it[i].Name)
		dst = appendValue(dst, &it[i].Value)
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func appendValue(dst []byte, v *Value) []byte {
	switch v.Kind {
	case S, N, B:
		return appendText(append(dst, byte(v.Kind)), v.Str)
	case SS, NS, BS:
		dst = binary.AppendUvarint(append(dst, byte(v.Kind)), uint64(len(v.List)))
		for i := range v.List {
			dst = appendText(dst, v.List[i].Str)
		}
		return dst
	case L:
		dst = binary.AppendUvarint(append(dst, byte(L)), uint64(len(v.List)))
		for i := range v.List {
			dst = appendValue(dst, &v.List[i])
		}
		return dst
	case M:
		return appendFields(append(dst, byte(M)), v.Map)
	case Bool:
		if !v.Bool {
			return append(dst, falseTag)
		}
		return append(dst, byte(Bool))
	default:
		return append(dst, byte(Null))
	}
}

// Size returns the item's size without decoding it, zero for no item.
func (r Raw) Size() int {
	size, _ := binary.Uvarint(r)
	return int(size)
}

// Decode returns the item. Bytes that AppendRaw did not make are ErrDamaged.
func (r Raw) Decode() (Item, error) {
	c := newCursor(string(r))
	it := c.item()
	if err := c.End(); err != nil {
		return nil, err
	}
	return it, nil
}

// Get returns one field without decoding the others, the zero Value if there is
// none or it is damaged.
func (r Raw) Get(name string) Value {
	c := newCursor(string(r))
	for range c.Count() {
		found := c.Text()
		if found == name {
			v := c.value()
			if c.damaged {
				return Value{}
			}
			return v
		}
		if found > name || c.damaged {
			break
		}
		c.value()
	}
	return Value{}
}
