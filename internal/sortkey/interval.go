package sortkey

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// Interval is a range of sort keys as two ends. The zero Interval has every sort key.
type Interval struct {
	Lo, Hi Bound
	Prefix bool // it has all that begins with Lo, and has not been narrowed
}

// Bound is one end of an Interval.
type Bound struct {
	Value Value
	Set   bool // else there is no end
	Open  bool // the value itself is not in
}

// Op says how an Interval follows from the values that a caller gives.
type Op uint8

// The operators. Each uses lo, hi or both, as its comment says.
const (
	Everything Op = iota // neither
	Equal                // lo
	Less                 // hi
	AtMost               // hi
	Greater              // lo
	AtLeast              // lo
	Between              // both, which are in
	BeginsWith           // lo
)

var opNames = [...]string{"Everything", "Equal", "Less", "AtMost", "Greater", "AtLeast", "Between", "BeginsWith"}

// String returns the operator's name, for errors.
func (op Op) String() string { return opNames[op] }

// NewInterval returns the interval that an operator makes of lo and hi, which are what Of takes. It refuses values that no
// sort key has, values of two kinds, ends in the wrong order, and prefixes of numbers.
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
			err = fmt.Errorf("%v %v and %v: not of one type", op, lo, hi)
		}
		if err == nil && iv.Empty() {
			err = fmt.Errorf("%v %v and %v: the second is before the first", op, lo, hi)
		}
	case BeginsWith:
		iv.Lo = end(lo, false)
		if err == nil && iv.Lo.Value.Kind == attr.N {
			err = fmt.Errorf("%v %v: numbers do not begin with anything", op, lo)
		}
		iv.Prefix = true
		if next, ok := iv.Lo.Value.AfterPrefix(); ok {
			iv.Hi = Bound{Value: next, Set: true, Open: true}
		}
	}
	return iv, err
}

// check refuses a value that no sort key has.
func (v Value) check() error {
	switch n := len(v.Text); {
	case v.Kind == attr.N:
		return nil
	case n == 0:
		return errors.New("the value is empty, which no sort key is: leave Sort out for every key")
	case n > MaxBytes:
		return fmt.Errorf("%d bytes, but a sort key has %d at most", n, MaxBytes)
	}
	return nil
}

// Compare returns 0 if v is in the interval, -1 if it is before and 1 if it is behind it.
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

// Has reports whether v is in the interval, and of its kind.
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

// From returns the part of the interval that is left when reading resumes at v: behind it if open, else with it.
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

// Name stands for the sort key in a condition: the request has to say which attribute that is.
const Name = "#hs_sk"

// Condition returns the interval as the sort key's part of a key condition, empty for every key, and adds the values
// that it refers to, as :hs_lo and :hs_hi. DynamoDB takes one condition, and only BETWEEN has two ends, both closed. So
// the result may have more than the interval, at the end where reading stops; Compare tells.
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
