package keys

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxAttributes is the largest number of attributes in the partition key of an index, and also in its sort key.
const MaxAttributes = 4

// Type is the type of a key attribute.
type Type uint8

// The types that keys can have. There is no default: the zero value is refused.
const (
	String Type = iota + 1
	Number
	Binary
)

var typeNames = [...]string{String: "string", Number: "number", Binary: "binary"}

// String returns the type's name in lower case.
func (t Type) String() string {
	if t.valid() {
		return typeNames[t]
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

func (t Type) valid() bool { return t > 0 && int(t) < len(typeNames) }

// Attribute is one of the attributes of a multi-attribute key.
type Attribute struct {
	Name string
	Type Type
}

// Attributes are the partition key or the sort key of an index, in order.
type Attributes []Attribute

// Validate returns an error that lists everything that is wrong with the attributes: none or too many of them, empty or
// repeated names, unknown types.
func (as Attributes) Validate() error {
	var faults []error
	if len(as) == 0 || len(as) > MaxAttributes {
		faults = append(faults, fmt.Errorf("%w: %d attributes, want 1 to %d", ErrPart, len(as), MaxAttributes))
	}
	seen := map[string]bool{}
	for i, a := range as {
		if strings.TrimSpace(a.Name) == "" {
			faults = append(faults, fmt.Errorf("%w: the attribute at index %d has no name", ErrPart, i))
		} else if seen[a.Name] {
			faults = append(faults, fmt.Errorf("%w: attribute %s is given twice", ErrPart, excerpt(a.Name)))
		}
		seen[a.Name] = true
		if !a.Type.valid() {
			faults = append(faults, fmt.Errorf("%w: attribute %s has the unknown type %s", ErrPart, excerpt(a.Name), a.Type))
		}
	}
	return errors.Join(faults...)
}

// Partition checks the values of a partition key and returns them as Multi does. There must be one value per attribute,
// because a query has to give all of them.
func (as Attributes) Partition(values ...any) ([]any, error) {
	values, err := as.Sort(values...)
	if err == nil && len(values) < len(as) {
		return nil, fmt.Errorf("%w: attribute %s has no value; a partition key needs a value for every attribute", ErrPart, excerpt(as[len(values)].Name))
	}
	return values, err
}

// Sort checks the values of a sort key and returns them as Multi does. The values are for the first attributes; a query
// may leave the last ones out.
func (as Attributes) Sort(values ...any) ([]any, error) {
	if err := as.Validate(); err != nil {
		return nil, err
	}
	values, err := Multi(values...)
	if err != nil {
		return nil, err
	}
	if len(values) > len(as) {
		return nil, fmt.Errorf("%w: %d values for %d attributes", ErrPart, len(values), len(as))
	}
	for i, v := range values {
		if got, _ := typeOf(v); got != as[i].Type {
			return nil, fmt.Errorf("%w: attribute %s is a %s, but its value %v is a %s", ErrPart, excerpt(as[i].Name), as[i].Type, v, got)
		}
	}
	return values, nil
}

// Multi returns the values of a multi-attribute key: strings, []byte, integers and floating-point numbers. A time.Time
// becomes its milliseconds since 1970. Trailing nil values are dropped, so USA, CA, nil, nil is USA, CA. A nil before
// another value is refused, because dropping it would move that value to the wrong attribute.
func Multi(values ...any) ([]any, error) {
	last := len(values)
	for last > 0 && values[last-1] == nil {
		last--
	}
	if last == 0 || last > MaxAttributes {
		return nil, fmt.Errorf("%w: %d values, want 1 to %d", ErrPart, last, MaxAttributes)
	}
	key := make([]any, last)
	for i, v := range values[:last] {
		if t, ok := v.(time.Time); ok {
			if t.IsZero() {
				return nil, fmt.Errorf("%w: the value at index %d is the zero time", ErrPart, i)
			}
			v = t.UnixMilli()
		}
		if _, err := typeOf(v); err != nil {
			return nil, fmt.Errorf("%w: the value at index %d %w", ErrPart, i, err)
		}
		key[i] = v
	}
	return key, nil
}

// typeOf returns the type of attribute that a value is for, or why it is for none.
func typeOf(value any) (Type, error) {
	switch v := value.(type) {
	case nil:
		return 0, errors.New("is missing, but other values follow")
	case string:
		switch {
		case v == "":
			return 0, errors.New("is an empty string")
		case !utf8.ValidString(v):
			return 0, fmt.Errorf("is not valid UTF-8: %s", excerpt(v))
		}
		return String, nil
	case []byte:
		if len(v) == 0 {
			return 0, errors.New("has no bytes")
		}
		return Binary, nil
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return Number, nil
	case float32:
		return Number, checkNumber(float64(v))
	case float64:
		return Number, checkNumber(v)
	}
	return 0, fmt.Errorf("is a %T; want a string, []byte, number or time.Time", value)
}

// checkNumber refuses the floating-point numbers that DynamoDB cannot store.
func checkNumber(f float64) error {
	size := math.Abs(f)
	if math.IsNaN(f) || size >= 1e126 || size != 0 && size < 1e-130 {
		return fmt.Errorf("is a number that DynamoDB cannot store: %v", f)
	}
	return nil
}
