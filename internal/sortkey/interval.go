package sortkey

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// Interval is a range of sort keys with two ends. The zero Interval contains every sort key.
type Interval struct {
	Lo, Hi Bound
	Prefix bool // it contains all values that begin with Lo, and was not narrowed
}

// Bound is one end of an Interval.
type Bound struct {
	Value Value
	Set   bool // false means unbounded
	Open  bool // the value itself is excluded
}

// Op is an operator that makes an Interval from the caller's values.
type Op uint8

// The operators. Each uses lo, hi or both, as its comment says.
const (
	Everything Op = iota // neither
	Equal                // lo
	Less                 // hi
	AtMost               // hi
	Greater              // lo
	AtLeast              // lo
	Between              // both, which are included
	BeginsWith           // lo
)

var opNames = [...]string{"Everything", "Equal", "Less", "AtMost", "Greater", "AtLeast", "Between", "BeginsWith"}

// String returns the operator's name, for errors.
func (op Op) String() string { return opNames[op] }

// NewInterval returns the interval that an operator makes from lo and hi, which are arguments of Of. It refuses values
// that no sort key can have, values of two kinds, ends in the wrong order, and prefixes of numbers.
func NewInterval(op Op, lo, hi any) (Interval, error) {
	var iv Interval
	var err error
	end := func(v any, open bool) Bound {
		value, e := Of(v)
		if e == nil {
			e = value.check()
		}
		if e != nil && err == nil {
			err = e
		}
		return Bound{Value: value, Set: true, Open: open}
	}
	switch op {
	case Everything:
	case Equal:
		iv.Lo = end(lo, false)
		iv.Hi = iv.Lo
	case Less:
		iv.Hi = end(hi, true)
	case AtMost:
		iv.Hi = end(hi, false)
	case Greater:
		iv.Lo = end(lo, true)
	case AtLeast:
		iv.Lo = end(lo, false)
	case Between:
		iv.Lo, iv.Hi = end(lo, false), end(hi, false)
		if err == nil && iv.Lo.Value.Kind != iv.Hi.Value.Kind {
			err = fmt.Errorf("%v %v and %v: the values have two types, want one", op, lo, hi)
		}
		if err == nil && iv.Empty() {
			err = fmt.Errorf("%v %v and %v: the second is before the first, want them in order", op, lo, hi)
		}
	case BeginsWith:
		iv.Lo = end(lo, false)
		if err == nil && iv.Lo.Value.Kind == attr.N {
			err = fmt.Errorf("%v %v: a number has no prefix, want a string or a binary", op, lo)
		}
		iv.Prefix = true
		if next, ok := iv.Lo.Value.AfterPrefix(); ok {
			iv.Hi = Bound{Value: next, Set: true, Open: true}
		}
	}
	return iv, err
}

// check refuses a value that no sort key can have.
func (v Value) check() error {
	switch n := len(v.Text); {
	case v.Kind == attr.N:
		return nil
	case n == 0:
		return errors.New("the value is empty, but a sort key is not: leave Sort out to select every key")
	case n > MaxBytes:
		return fmt.Errorf("the value has %d bytes, but a sort key has at most %d", n, MaxBytes)
	}
	return nil
}

// Compare returns 0 if v is in the interval, -1 if it is before it, and 1 if it is after it.
func (iv Interval) Compare(v Value) int {
	if iv.Lo.Set {
		if c := v.Compare(iv.Lo.Value); c < 0 || c == 0 && iv.Lo.Open {
			return -1
		}
	}
	if iv.Hi.Set {
		if c := v.Compare(iv.Hi.Value); c > 0 || c == 0 && iv.Hi.Open {
			return 1
		}
	}
	return 0
}

// Has reports whether v is in the interval and has its kind.
func (iv Interval) Has(v Value) bool {
	for _, end := range []Bound{iv.Lo, iv.Hi} {
		if end.Set && end.Value.Kind != v.Kind {
			return false
		}
	}
	return iv.Compare(v) == 0
}

// Empty reports whether no value can be in the interval.
func (iv Interval) Empty() bool {
	if !iv.Lo.Set || !iv.Hi.Set {
		return false
	}
	c := iv.Lo.Value.Compare(iv.Hi.Value)
	return c > 0 || c == 0 && (iv.Lo.Open || iv.Hi.Open)
}

// From returns the part of the interval that is left when reading resumes at v: without v if open, else including v.
func (iv Interval) From(v Value, open, reverse bool) Interval {
	at := Bound{Value: v, Set: true, Open: open}
	if reverse {
		iv.Hi = at
	} else {
		iv.Lo = at
	}
	iv.Prefix = false
	return iv
}

// Name is the placeholder for the sort key in a condition. The request must define it.
const Name = "#hs_sk"

// Condition returns the sort key's part of a key condition, which is empty for every key. It adds the values to which it
// refers as :hs_lo and :hs_hi. DynamoDB accepts one condition, and only BETWEEN has two ends, both closed. The condition
// may therefore select more than the interval, at the end where reading stops. Compare detects these keys.
func (iv Interval) Condition(reverse bool, values map[string]types.AttributeValue) string {
	lo, hi := iv.Lo, iv.Hi
	if iv.Prefix {
		values[":hs_lo"] = lo.Value.Attribute()
		return "begins_with(" + Name + ", :hs_lo)"
	}
	if lo.Set && hi.Set && lo.Value == hi.Value {
		values[":hs_lo"] = lo.Value.Attribute()
		return Name + " = :hs_lo"
	}
	if lo.Set && lo.Open && hi.Set {
		if next, ok := lo.Value.After(); ok {
			lo = Bound{Value: next, Set: true}
		}
	}
	switch { // BETWEEN cannot start at an open end, and no value is longer than a key: give up the far end
	case reverse && hi.Open || len(lo.Value.Text) > MaxBytes:
		lo.Set = lo.Set && !hi.Set
	case !reverse && lo.Open || len(hi.Value.Text) > MaxBytes:
		hi.Set = hi.Set && !lo.Set
	}
	operator := func(b Bound, open, closed string) string {
		if b.Open {
			return open
		}
		return closed
	}
	switch {
	case lo.Set && hi.Set:
		values[":hs_lo"], values[":hs_hi"] = lo.Value.Attribute(), hi.Value.Attribute()
		return Name + " BETWEEN :hs_lo AND :hs_hi"
	case lo.Set:
		values[":hs_lo"] = lo.Value.Attribute()
		return Name + " " + operator(lo, ">", ">=") + " :hs_lo"
	case hi.Set:
		values[":hs_hi"] = hi.Value.Attribute()
		return Name + " " + operator(hi, "<", "<=") + " :hs_hi"
	}
	return ""
}
