package attrjson

import (
	"encoding/base64"
	"strconv"
	"unsafe"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/jsonpull"
)

// opening begins a value of each kind, up to what differs from value to value.
var opening = [...]string{
	attr.Invalid: `{`,
	attr.S:       `{"S":`,
	attr.N:       `{"N":"`,
	attr.B:       `{"B":"`,
	attr.SS:      `{"SS":[`,
	attr.NS:      `{"NS":[`,
	attr.BS:      `{"BS":[`,
	attr.M:       `{"M":`,
	attr.L:       `{"L":[`,
	attr.Null:    `{"NULL":true}`,
	attr.Bool:    `{"BOOL":`,
}

// AppendValue appends a value.
func AppendValue(dst []byte, v attr.Value) []byte {
	dst = append(dst, opening[v.Kind]...)
	switch v.Kind {
	case attr.Null:
		return dst
	case attr.S:
		dst = jsonpull.AppendString(dst, v.Str)
	case attr.N:
		dst = append(v.Number().Append(dst), '"')
	case attr.B:
		dst = append(appendBase64(dst, v.Str), '"')
	case attr.SS, attr.NS, attr.BS:
		for i := range v.List {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendElement(dst, v.Kind, v.List[i].Str)
		}
		dst = append(dst, ']')
	case attr.L:
		for i := range v.List {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendValue(dst, v.List[i])
		}
		dst = append(dst, ']')
	case attr.M:
		dst = AppendItem(dst, v.Map)
	case attr.Bool:
		dst = strconv.AppendBool(dst, v.Bool)
	}
	return append(dst, '}')
}

// AppendItem appends an item.
func AppendItem(dst []byte, it attr.Item) []byte {
	dst = append(dst, '{')
	for i := range it {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonpull.AppendString(dst, it[i].Name), ':')
		dst = AppendValue(dst, it[i].Value)
	}
	return append(dst, '}')
}

// AppendStored appends an item straight from its stored bytes. Bytes that
// attr.AppendRaw did not make are attr.ErrDamaged.
func AppendStored(dst []byte, stored attr.Raw) ([]byte, error) {
	c := stored.Cursor() // nothing of it outlives this call: all is copied to dst
	dst = appendFields(dst, &c)
	return dst, c.End()
}

func appendFields(dst []byte, c *attr.Cursor) []byte {
	dst = append(dst, '{')
	for i := range c.Count() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonpull.AppendString(dst, c.Text()), ':')
		dst = appendValue(dst, c)
	}
	return append(dst, '}')
}

func appendValue(dst []byte, c *attr.Cursor) []byte {
	kind, truth := c.Kind()
	dst = append(dst, opening[kind]...)
	switch kind {
	case attr.Null:
		return dst
	case attr.S:
		dst = jsonpull.AppendString(dst, c.Text())
	case attr.N:
		dst = append(c.Number().Append(dst), '"')
	case attr.B:
		dst = append(appendBase64(dst, c.Text()), '"')
	case attr.SS, attr.NS, attr.BS:
		for i := range c.Count() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if kind == attr.NS {
				dst = append(c.Number().Append(append(dst, '"')), '"')
				continue
			}
			dst = appendElement(dst, kind, c.Text())
		}
		dst = append(dst, ']')
	case attr.L:
		for i := range c.Count() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, c)
		}
		dst = append(dst, ']')
	case attr.M:
		dst = appendFields(dst, c)
	case attr.Bool:
		dst = strconv.AppendBool(dst, truth)
	}
	return append(dst, '}')
}

// appendElement appends an element of a set.
func appendElement(dst []byte, set attr.Kind, elem string) []byte {
	switch set {
	case attr.NS:
		dst = attr.Number(elem).Append(append(dst, '"'))
	case attr.BS:
		dst = appendBase64(append(dst, '"'), elem)
	default:
		return jsonpull.AppendString(dst, elem)
	}
	return append(dst, '"')
}

func appendBase64(dst []byte, s string) []byte {
	return base64.StdEncoding.AppendEncode(dst, unsafe.Slice(unsafe.StringData(s), len(s)))
}
