package attr

import (
	"encoding/base64"
	"fmt"
	"unsafe"

	"github.com/heatsink-go/heatsink/internal/jsonpull"
)

// opening begins a value of each kind, up to what differs from value to value.
var opening = [...]string{
	Invalid: `{`,
	S:       `{"S":`,
	N:       `{"N":"`,
	B:       `{"B":"`,
	SS:      `{"SS":[`,
	NS:      `{"NS":[`,
	BS:      `{"BS":[`,
	M:       `{"M":`,
	L:       `{"L":[`,
	Null:    `{"NULL":true}`,
	Bool:    `{"BOOL":`,
}

// AppendJSON appends the value in DynamoDB's notation.
func (v Value) AppendJSON(dst []byte) []byte {
	dst = append(dst, opening[v.Kind]...)
	switch v.Kind {
	case Null:
		return dst
	case S:
		dst = jsonpull.AppendString(dst, v.Str)
	case N:
		dst = append(v.Number().Append(dst), '"')
	case B:
		dst = append(appendBase64(dst, v.Str), '"')
	case SS, NS, BS:
		for i := range v.List {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendElement(dst, v.Kind, v.List[i].Str)
		}
		dst = append(dst, ']')
	case L:
		for i := range v.List {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.List[i].AppendJSON(dst)
		}
		dst = append(dst, ']')
	case M:
		dst = v.Map.AppendJSON(dst)
	case Bool:
		dst = appendBool(dst, v.Bool)
	}
	return append(dst, '}')
}

// AppendJSON appends the item in DynamoDB's notation.
func (it Item) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range it {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonpull.AppendString(dst, it[i].Name), ':')
		dst = it[i].Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

// AppendJSON appends the item in DynamoDB's notation, straight from the stored
// bytes. Bytes that AppendRaw did not make are an error.
func (r Raw) AppendJSON(dst []byte) ([]byte, error) {
	// The cursor's view of r does not outlive this call: all is copied to dst.
	c := cursor{rest: unsafe.String(unsafe.SliceData(r), len(r))}
	c.uvarint()
	dst = c.appendFields(dst)
	if c.damaged || c.rest != "" {
		return dst, fmt.Errorf("%w: at byte %d of %d", errDamaged, len(r)-len(c.rest), len(r))
	}
	return dst, nil
}

func (c *cursor) appendFields(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range c.count() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonpull.AppendString(dst, c.text()), ':')
		dst = c.appendValue(dst)
	}
	return append(dst, '}')
}

func (c *cursor) appendValue(dst []byte) []byte {
	if c.rest == "" {
		c.fail()
		return dst
	}
	tag := c.rest[0]
	c.rest = c.rest[1:]
	if tag == falseTag {
		return append(dst, `{"BOOL":false}`...)
	}
	if tag > falseTag || tag == byte(Invalid) {
		c.fail()
		return dst
	}
	kind := Kind(tag)
	dst = append(dst, opening[kind]...)
	switch kind {
	case Null:
		return dst
	case S:
		dst = jsonpull.AppendString(dst, c.text())
	case N:
		dst = append(c.appendNumber(dst), '"')
	case B:
		dst = append(appendBase64(dst, c.text()), '"')
	case SS, NS, BS:
		for i := range c.count() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if kind == NS {
				dst = append(c.appendNumber(append(dst, '"')), '"')
				continue
			}
			dst = appendElement(dst, kind, c.text())
		}
		dst = append(dst, ']')
	case L:
		for i := range c.count() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = c.appendValue(dst)
		}
		dst = append(dst, ']')
	case M:
		dst = c.appendFields(dst)
	case Bool:
		dst = append(dst, "true"...)
	}
	return append(dst, '}')
}

func (c *cursor) appendNumber(dst []byte) []byte {
	n := Number(c.text())
	if !n.valid() {
		c.fail()
		return dst
	}
	return n.Append(dst)
}

// appendElement appends an element of a set.
func appendElement(dst []byte, set Kind, elem string) []byte {
	switch set {
	case NS:
		dst = Number(elem).Append(append(dst, '"'))
	case BS:
		dst = appendBase64(append(dst, '"'), elem)
	default:
		return jsonpull.AppendString(dst, elem)
	}
	return append(dst, '"')
}

func appendBase64(dst []byte, s string) []byte {
	return base64.StdEncoding.AppendEncode(dst, unsafe.Slice(unsafe.StringData(s), len(s)))
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}
