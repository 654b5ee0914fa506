package attr

import (
	"encoding/binary"
	"errors"
	"fmt"
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

var errDamaged = errors.New("stored item is damaged")

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

// Decode returns the item. Bytes that AppendRaw did not make are an error.
func (r Raw) Decode() (Item, error) {
	c := cursor{rest: string(r)}
	c.uvarint()
	it := c.fields()
	if c.damaged || c.rest != "" {
		return nil, fmt.Errorf("%w: at byte %d of %d", errDamaged, len(r)-len(c.rest), len(r))
	}
	return it, nil
}

// Get returns one field without decoding the others, the zero Value if there is
// none.
func (r Raw) Get(name string) Value {
	c := cursor{rest: string(r)}
	c.uvarint()
	for range c.count() {
		found := c.text()
		if found == name {
			return c.value()
		}
		if found > name || c.damaged {
			break
		}
		c.value()
	}
	return Value{}
}

// cursor reads the stored form. The strings it returns share its memory. After
// damage it returns zero values.
type cursor struct {
	rest    string
	damaged bool
}

func (c *cursor) fail() {
	c.rest, c.damaged = "", true
}

func (c *cursor) uvarint() int {
	var n uint64
	for i := 0; i < len(c.rest) && i < 5; i++ {
		b := c.rest[i]
		n |= uint64(b&0x7F) << (7 * i)
		if b < 0x80 {
			c.rest = c.rest[i+1:]
			return int(n)
		}
	}
	c.fail()
	return 0
}

// count reads how many elements follow; each takes at least a byte, so that
// damage cannot ask for more memory than there are bytes.
func (c *cursor) count() int {
	n := c.uvarint()
	if n > len(c.rest) {
		c.fail()
		return 0
	}
	return n
}

func (c *cursor) text() string {
	n := c.count()
	s := c.rest[:n]
	c.rest = c.rest[n:]
	return s
}

func (c *cursor) fields() Item {
	it := make(Item, c.count())
	for i := range it {
		it[i].Name = c.text()
		it[i].Value = c.value()
		if i > 0 && it[i-1].Name >= it[i].Name {
			c.fail()
		}
	}
	return it
}

func (c *cursor) value() Value {
	if c.rest == "" {
		c.fail()
		return Value{}
	}
	tag := c.rest[0]
	c.rest = c.rest[1:]
	switch kind := Kind(tag); kind {
	case S, B:
		return Value{Kind: kind, Str: c.text()}
	case N:
		return c.number()
	case SS, NS, BS:
		v := Value{Kind: kind, List: make([]Value, c.count())}
		for i := range v.List {
			if kind == NS {
				v.List[i] = c.number()
				continue
			}
			v.List[i] = Value{Kind: kind.Elem(), Str: c.text()}
		}
		return v
	case L:
		v := Value{Kind: L, List: make([]Value, c.count())}
		for i := range v.List {
			v.List[i] = c.value()
		}
		return v
	case M:
		return Value{Kind: M, Map: c.fields()}
	case Null:
		return Value{Kind: Null}
	case Bool:
		return Boolean(true)
	}
	if tag != falseTag {
		c.fail()
		return Value{}
	}
	return Boolean(false)
}

func (c *cursor) number() Value {
	v := Value{Kind: N, Str: c.text()}
	if !v.Number().valid() {
		c.fail()
	}
	return v
}
