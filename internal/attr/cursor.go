package attr

import (
	"fmt"
	"unsafe"
)

// Cursor reads a stored item piece by piece, for whoever needs no Item: the
// number of its fields first, then each field's name and value, as Raw has
// them. The strings it returns share its memory. After damage it returns zero
// values; End tells.
type Cursor struct {
	rest    string
	length  int // of all
	damaged bool
}

// Cursor returns a Cursor at the item's fields. It reads the bytes where they
// are: they must not change while it, or a string that it returned, is in use.
func (r Raw) Cursor() Cursor { return newCursor(unsafe.String(unsafe.SliceData(r), len(r))) }

func newCursor(stored string) Cursor {
	c := Cursor{rest: stored, length: len(stored)}
	c.uvarint() // the size
	return c
}

// Count reads how many elements or fields follow. Each takes at least a byte, so
// that damage cannot ask for more memory than there are bytes.
func (c *Cursor) Count() int {
	n := c.uvarint()
	if n > len(c.rest) {
		c.fail()
		return 0
	}
	return n
}

// Text reads a name, or what a value or an element of kind S, N or B holds.
func (c *Cursor) Text() string {
	n := c.Count()
	s := c.rest[:n]
	c.rest = c.rest[n:]
	return s
}

// Number reads what Text reads, of kind N. Damage reads as Zero.
func (c *Cursor) Number() Number {
	n := Number(c.Text())
	if !n.valid() {
		c.fail()
		return Zero
	}
	return n
}

// Kind reads the kind of a value, and which of the two it is if that is Bool.
// What the value holds follows. Damage reads as Invalid.
func (c *Cursor) Kind() (kind Kind, truth bool) {
	if c.rest == "" {
		c.fail()
		return Invalid, false
	}
	tag := c.rest[0]
	c.rest = c.rest[1:]
	if tag == falseTag {
		return Bool, false
	}
	if tag > falseTag || tag == byte(Invalid) {
		c.fail()
		return Invalid, false
	}
	return Kind(tag), true
}

// End returns ErrDamaged if anything was wrong with what was read, or if there
// is more.
func (c *Cursor) End() error {
	if c.damaged || c.rest != "" {
		return c.damage()
	}
	return nil
}

// damage is apart from End, so that the compiler inlines End.
func (c *Cursor) damage() error {
	return fmt.Errorf("%w: at byte %d of %d", ErrDamaged, c.length-len(c.rest), c.length)
}

func (c *Cursor) fail() {
	c.rest, c.damaged = "", true
}

func (c *Cursor) uvarint() int {
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

func (c *Cursor) item() Item {
	it := make(Item, c.Count())
	for i := range it {
		it[i].Name = c.Text()
		it[i].Value = c.value()
		if i > 0 && it[i-1].Name >= it[i].Name {
			c.fail()
		}
	}
	return it
}

func (c *Cursor) value() Value {
	kind, truth := c.Kind()
	switch kind {
	case S, B:
		return Value{Kind: kind, Str: c.Text()}
	case N:
		return Num(c.Number())
	case SS, NS, BS:
		v := Value{Kind: kind, List: make([]Value, c.Count())}
		for i := range v.List {
			if kind == NS {
				v.List[i] = Num(c.Number())
				continue
			}
			v.List[i] = Value{Kind: kind.Elem(), Str: c.Text()}
		}
		return v
	case L:
		v := Value{Kind: L, List: make([]Value, c.Count())}
		for i := range v.List {
			v.List[i] = c.value()
		}
		return v
	case M:
		return Value{Kind: M, Map: c.item()}
	case Bool:
		return Boolean(truth)
	}
	return Value{Kind: kind}
}
