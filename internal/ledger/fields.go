package ledger

import (
	"errors"
	"fmt"
	"strconv"
)

// Value is one attribute of a stored record: a number if Number, else a string.
type Value struct {
	Name   string
	Number bool
	Text   string
}

// Fields takes the values of a stored record out one by one, in any order. It collects what is wrong with them, so that
// Err tells everything at once. Values that nobody took are unknown.
type Fields struct {
	values []Value
	left   map[string]Value
	faults []error
}

// NewFields returns the fields of these values. A name that is there twice is a fault.
func NewFields(values []Value) *Fields {
	f := &Fields{values: values, left: make(map[string]Value, len(values))}
	for _, v := range values {
		if _, twice := f.left[v.Name]; twice {
			f.Fault("%s is there twice", v.Name)
		}
		f.left[v.Name] = v
	}
	return f
}

// Fault says that something is wrong.
func (f *Fields) Fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Errorf(format, args...))
}

// Err returns everything that is wrong so far, nil if nothing is.
func (f *Fields) Err() error { return errors.Join(f.faults...) }

// Text takes a string. It is a fault if there is none.
func (f *Fields) Text(name string) string {
	text, _ := f.Lookup(name)
	return text
}

// Lookup is Text for those who must know whether there is a string, such as to read it further.
func (f *Fields) Lookup(name string) (text string, ok bool) { return f.take(name, false) }

// Number takes a whole number. It is a fault if there is none, or if DynamoDB would spell it otherwise.
func (f *Fields) Number(name string) int64 {
	text, ok := f.take(name, true)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != text {
		f.Fault("%s is %q: want a whole number", name, text)
	}
	return n
}

// End says that everything was taken. Whatever is left is a fault: what is not understood cannot be obeyed.
func (f *Fields) End() {
	for _, v := range f.values {
		if _, unknown := f.left[v.Name]; unknown {
			f.Fault("unknown attribute %q: upgrade heatsink in this process if a newer version wrote it, else remove it", v.Name)
		}
	}
}

func (f *Fields) take(name string, number bool) (string, bool) {
	v, ok := f.left[name]
	delete(f.left, name)
	switch {
	case !ok:
		f.Fault("%s is missing", name)
	case v.Number != number && number:
		f.Fault("%s is the string %q: want a number", name, v.Text)
	case v.Number != number:
		f.Fault("%s is the number %s: want a string", name, v.Text)
	default:
		return v.Text, true
	}
	return "", false
}
