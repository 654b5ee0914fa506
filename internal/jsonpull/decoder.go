// Package jsonpull reads one JSON document as its caller asks for it: no
// tree, no reflection, and no copy of a string that has no escapes.
//
//	for key := range d.Members(&person) {
//		switch key {
//		case "Name":
//			p.Name = d.Text()
//		default:
//			d.Skip()
//		}
//	}
//	err := d.End()
//
// The first error stays: what is read after it is zero, and loops end. So a
// caller reads a whole document and looks at the error once.
//
// JSON is taken strictly, as RFC 8259 has it. Beyond that, text must be valid
// UTF-8, escaped surrogates must come in pairs and nothing may nest deeper
// than MaxDepth. A name that is there twice is not an error.
package jsonpull

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may nest.
const MaxDepth = 512

// ErrDepth is the error of a document that nests deeper than MaxDepth.
var ErrDepth = fmt.Errorf("JSON nests deeper than %d levels", MaxDepth)

// SyntaxError is the error of a document that is not JSON.
type SyntaxError struct {
	Offset int // in bytes, of what was not expected
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("no JSON at byte %d", e.Offset) }

// Decoder reads one document. Its zero value reads the empty one, which is not
// JSON; Reset gives it another.
type Decoder struct {
	text  string
	pos   int
	depth int
	err   error
}

// New returns a Decoder that reads text.
func New(text string) *Decoder {
	d := new(Decoder)
	d.Reset(text)
	return d
}

// Reset makes the Decoder read text from its beginning. Strings that are read
// share the memory of text.
func (d *Decoder) Reset(text string) {
	*d = Decoder{text: text}
	if !utf8.ValidString(text) {
		d.Fail(&SyntaxError{invalidUTF8(text)})
	}
}

func invalidUTF8(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return len(text)
}

// Valid reports whether text is a JSON document by the rules of this package.
func Valid(text string) bool {
	d := New(text)
	d.Skip()
	return d.End() == nil
}

// Err returns the first error so far.
func (d *Decoder) Err() error { return d.err }

// End returns the first error, and one of its own if the document goes on
// after the value that was read.
func (d *Decoder) End() error {
	if d.err == nil {
		if d.space(); d.pos < len(d.text) {
			d.syntax()
		}
	}
	return d.err
}

// Fail makes err the Decoder's error if it has none yet.
func (d *Decoder) Fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *Decoder) syntax() {
	d.Fail(&SyntaxError{d.pos})
}

// space moves to the next byte that is not white space.
func (d *Decoder) space() {
	for d.pos < len(d.text) {
		switch d.text[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// peek moves to the next token and returns its first byte, 0 at the end of the
// document or after an error.
func (d *Decoder) peek() byte {
	if d.err != nil {
		return 0
	}
	if d.pos < len(d.text) && d.text[d.pos] > ' ' {
		return d.text[d.pos]
	}
	if d.space(); d.pos < len(d.text) {
		return d.text[d.pos]
	}
	return 0
}

// literal reads one of the words true, false and null.
func (d *Decoder) literal(word string) {
	if !strings.HasPrefix(d.text[d.pos:], word) {
		d.syntax()
		return
	}
	d.pos += len(word)
}

// Null reads a null, if that is the next value, and reports whether it did.
func (d *Decoder) Null() bool {
	if d.peek() != 'n' {
		return false
	}
	d.literal("null")
	return d.err == nil
}

// Members returns the names of the object's members as they come. The loop's
// body reads or skips each member's value, and never leaves the loop. Members
// that are null are left out, and a null in the object's place has no members.
func (d *Decoder) Members(t *Type) iter.Seq[string] {
	return func(yield func(string) bool) { d.members(t, true, yield) }
}

// Entries is Members for an object that is a map: it leaves no name out.
func (d *Decoder) Entries(t *Type) iter.Seq[string] {
	return func(yield func(string) bool) { d.members(t, false, yield) }
}

func (d *Decoder) members(t *Type, absent bool, yield func(string) bool) {
	if !d.open('{', t) {
		return
	}
	if d.peek() == '}' {
		d.close()
		return
	}
	for {
		if d.peek() != '"' {
			d.syntax()
			return
		}
		name := d.quoted()
		if d.peek() != ':' {
			d.syntax()
			return
		}
		d.pos++
		if !absent || !d.Null() {
			yield(name)
		}
		if !d.more('}') {
			return
		}
	}
}

// Single reads an object that is written {"X":"text"}, with nothing to spare: one
// member, whose name is one of the given letters and whose value is a string
// without escapes. If anything else comes next it reads nothing.
func (d *Decoder) Single(names string) (name byte, text string, ok bool) {
	s := d.text[d.pos:]
	if d.err != nil || len(s) < len(`{"X":""}`) || s[:2] != `{"` || s[3:6] != `":"` || strings.IndexByte(names, s[2]) < 0 {
		return 0, "", false
	}
	n := len(`{"X":"`)
	end := n + plain(s[n:])
	if end+2 > len(s) || s[end:end+2] != `"}` {
		return 0, "", false
	}
	d.pos += end + 2
	return s[2], s[n:end], true
}

// Elements returns the positions of an array's elements as they come. The
// loop's body reads or skips each element, and never leaves the loop. A null in
// the array's place has no elements.
func (d *Decoder) Elements(t *Type) iter.Seq[int] {
	return func(yield func(int) bool) { d.elements(t, yield) }
}

func (d *Decoder) elements(t *Type, yield func(int) bool) {
	if !d.open('[', t) {
		return
	}
	if d.peek() == ']' {
		d.close()
		return
	}
	for i := 0; ; i++ {
		yield(i)
		if !d.more(']') {
			return
		}
	}
}

// open reads an object's or array's beginning. It returns false for null, and
// when there is something else.
func (d *Decoder) open(bracket byte, t *Type) bool {
	if d.peek() != bracket {
		if !d.Null() {
			d.mistyped(t)
		}
		return false
	}
	d.pos++
	if d.depth++; d.depth > MaxDepth {
		d.Fail(ErrDepth)
		return false
	}
	return true
}

// close reads the bracket that ends an object or array.
func (d *Decoder) close() {
	d.pos++
	d.depth--
}

// more reads what follows a value: a comma, or the closing bracket.
func (d *Decoder) more(bracket byte) bool {
	switch d.peek() {
	case ',':
		d.pos++
		return true
	case bracket:
		d.close()
	default:
		d.syntax()
	}
	return false
}

// Skip reads a value of whatever type and forgets it.
func (d *Decoder) Skip() {
	switch d.peek() {
	case '{':
		for range d.Entries(nil) {
			d.Skip()
		}
	case '[':
		for range d.Elements(nil) {
			d.Skip()
		}
	case '"':
		d.quoted()
	case 't':
		d.literal("true")
	case 'f':
		d.literal("false")
	case 'n':
		d.literal("null")
	default:
		d.number()
	}
}

// mistyped fails because the next value is not what t says, or no value.
func (d *Decoder) mistyped(t *Type) {
	if d.err != nil {
		return
	}
	e := &TypeError{Wanted: t, Offset: d.pos}
	switch d.peek() {
	case '{':
		e.Found = Object
	case '[':
		e.Found = Array
	case '"':
		e.Found = String
	case 't':
		e.Found = True
		d.literal("true")
	case 'f':
		e.Found = False
		d.literal("false")
	default:
		e.Found = Integer
		if _, whole := d.number(); !whole {
			e.Found = Decimal
		}
	}
	d.Fail(e)
}

// IsSyntax reports whether err is that of a document that is not JSON, or one
// that this package does not read.
func IsSyntax(err error) bool {
	var syntax *SyntaxError
	return errors.As(err, &syntax) || errors.Is(err, ErrDepth)
}
