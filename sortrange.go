package heatsink

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attr"
)

// Range is a condition on the sort key. The zero Range is every key. Values are strings, numbers, []byte or whatever
// attributevalue makes one of, or an AttributeValue. They must be of the sort key's type, and not empty: no sort key is.
type Range struct {
	op     rangeOp
	lo, hi any
}

type rangeOp uint8

const (
	everything rangeOp = iota
	equal
	less
	atMost
	greater
	atLeast
	between
	beginsWith
)

// Equal is the sort key v.
func Equal(v any) Range { return Range{op: equal, lo: v} }

// Less is the sort keys before v.
func Less(v any) Range { return Range{op: less, hi: v} }

// AtMost is v and the sort keys before it.
func AtMost(v any) Range { return Range{op: atMost, hi: v} }

// Greater is the sort keys after v.
func Greater(v any) Range { return Range{op: greater, lo: v} }

// AtLeast is v and the sort keys after it.
func AtLeast(v any) Range { return Range{op: atLeast, lo: v} }

// Between is the sort keys from lo to hi, both included.
func Between(lo, hi any) Range { return Range{op: between, lo: lo, hi: hi} }

// BeginsWith is the sort keys, strings or binaries, that begin with prefix.
func BeginsWith(prefix any) Range { return Range{op: beginsWith, lo: prefix} }

// interval returns the range as two ends.
func (r Range) interval() (interval, error) {
	var iv interval
	var err error
	end := func(v any, open bool) bound {
		value, e := sortValueOf(v)
		if e == nil && value.kind != attr.N && value.text == "" {
			e = errors.New("the value is empty, which no sort key is: leave Sort out for every key")
		}
		if e == nil && value.kind != attr.N && len(value.text) > maxSortKey {
			e = fmt.Errorf("%d bytes, but a sort key has %d at most", len(value.text), maxSortKey)
		}
		if e != nil && err == nil {
			err = fmt.Errorf("%w: Sort: %w", ErrQuery, e)
		}
		return bound{value: value, set: true, open: open}
	}
	switch r.op {
	case everything:
	case equal:
		iv.lo = end(r.lo, false)
		iv.hi = iv.lo
	case less:
		iv.hi = end(r.hi, true)
	case atMost:
		iv.hi = end(r.hi, false)
	case greater:
		iv.lo = end(r.lo, true)
	case atLeast:
		iv.lo = end(r.lo, false)
	case between:
		iv.lo, iv.hi = end(r.lo, false), end(r.hi, false)
		if err == nil && iv.lo.value.kind != iv.hi.value.kind {
			err = fmt.Errorf("%w: Sort: Between %v and %v: not of one type", ErrQuery, r.lo, r.hi)
		}
		if err == nil && iv.empty() {
			err = fmt.Errorf("%w: Sort: Between %v and %v: the second is before the first", ErrQuery, r.lo, r.hi)
		}
	case beginsWith:
		iv.lo = end(r.lo, false)
		if err == nil && iv.lo.value.kind == attr.N {
			err = fmt.Errorf("%w: Sort: BeginsWith %v: numbers do not begin with anything", ErrQuery, r.lo)
		}
		iv.prefix = true
		if next, ok := iv.lo.value.afterPrefix(); ok {
			iv.hi = bound{value: next, set: true, open: true}
		}
	}
	return iv, err
}

// sortValue is the value of a sort key. Values of one table are of one kind, and are ordered as their texts are: a
// number's text is attr's encoding of it.
type sortValue struct {
	kind attr.Kind
	text string
}

// sortValueOf returns v, which is an AttributeValue or something to be made one.
func sortValueOf(v any) (sortValue, error) {
	value, ok := v.(types.AttributeValue)
	if !ok {
		var err error
		if value, err = attributevalue.Marshal(v); err != nil {
			return sortValue{}, err
		}
	}
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return sortValue{attr.S, value.Value}, nil
	case *types.AttributeValueMemberN:
		n, err := attr.ParseNumber(value.Value)
		if err != nil {
			return sortValue{}, fmt.Errorf("number %q: %w", value.Value, err)
		}
		return sortValue{attr.N, string(n)}, nil
	case *types.AttributeValueMemberB:
		return sortValue{attr.B, string(value.Value)}, nil
	}
	return sortValue{}, fmt.Errorf("%v (%T) cannot be a sort key: only strings, numbers and binaries can", v, v)
}

func (v sortValue) attribute() types.AttributeValue {
	switch v.kind {
	case attr.N:
		return &types.AttributeValueMemberN{Value: attr.Number(v.text).String()}
	case attr.B:
		return &types.AttributeValueMemberB{Value: []byte(v.text)}
	default:
		return &types.AttributeValueMemberS{Value: v.text}
	}
}

func (v sortValue) compare(w sortValue) int { return strings.Compare(v.text, w.text) }

// maxSortKey is how many bytes a sort key has at most.
const maxSortKey = 1024

// after returns the very next value, if there is one that can be written down: numbers have none.
func (v sortValue) after() (sortValue, bool) {
	return sortValue{v.kind, v.text + "\x00"}, v.kind != attr.N && len(v.text) < maxSortKey
}

// afterPrefix returns the first value after all that begin with v, false if there is none.
func (v sortValue) afterPrefix() (sortValue, bool) {
	for text := v.text; text != ""; {
		if v.kind == attr.B {
			last := len(text) - 1
			if text[last] < 0xFF {
				return sortValue{v.kind, text[:last] + string([]byte{text[last] + 1})}, true
			}
			text = text[:last]
			continue
		}
		last, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
		if last < utf8.MaxRune {
			next := last + 1
			if next == 0xD800 { // the first of those that UTF-8 leaves out
				next = 0xE000
			}
			return sortValue{v.kind, text + string(next)}, true
		}
	}
	return sortValue{}, false
}

// bound is one end of an interval.
type bound struct {
	value sortValue
	set   bool // else there is no end
	open  bool // the value itself is not in
}

// interval is a range of sort keys as two ends.
type interval struct {
	lo, hi bound
	prefix bool // this is all that begins with lo, and has not been narrowed
}

// compare returns 0 if v is in the interval, -1 if it is before and 1 if it is behind it.
func (iv interval) compare(v sortValue) int {
	if iv.lo.set {
		if c := v.compare(iv.lo.value); c < 0 || c == 0 && iv.lo.open {
			return -1
		}
	}
	if iv.hi.set {
		if c := v.compare(iv.hi.value); c > 0 || c == 0 && iv.hi.open {
			return 1
		}
	}
	return 0
}

// has reports whether v is in the interval, and of its kind.
func (iv interval) has(v sortValue) bool {
	for _, end := range []bound{iv.lo, iv.hi} {
		if end.set && end.value.kind != v.kind {
			return false
		}
	}
	return iv.compare(v) == 0
}

func (iv interval) empty() bool {
	if !iv.lo.set || !iv.hi.set {
		return false
	}
	c := iv.lo.value.compare(iv.hi.value)
	return c > 0 || c == 0 && (iv.lo.open || iv.hi.open)
}

// from returns the part of the interval that is left when reading resumes at v: behind it if open, else with it.
func (iv interval) from(v sortValue, open, reverse bool) interval {
	at := bound{value: v, set: true, open: open}
	if reverse {
		iv.hi = at
	} else {
		iv.lo = at
	}
	iv.prefix = false
	return iv
}

// condition returns the interval as the sort key's part of a key condition, empty for every key, and adds the values
// that it refers to. DynamoDB has one condition to give, and only BETWEEN has two ends, both closed. So the result may
// contain more than the interval, at the end where reading stops; compare tells.
func (iv interval) condition(reverse bool, values Item) string {
	lo, hi := iv.lo, iv.hi
	if iv.prefix {
		values[":hs_lo"] = lo.value.attribute()
		return "begins_with(#hs_sk, :hs_lo)"
	}
	if lo.set && hi.set && lo.value == hi.value {
		values[":hs_lo"] = lo.value.attribute()
		return "#hs_sk = :hs_lo"
	}
	if lo.set && lo.open && hi.set {
		if next, ok := lo.value.after(); ok {
			lo = bound{value: next, set: true}
		}
	}
	switch { // BETWEEN cannot start at an open end, and no value is longer than a key: give up the far end
	case reverse && hi.open || len(lo.value.text) > maxSortKey:
		lo.set = lo.set && !hi.set
	case !reverse && lo.open || len(hi.value.text) > maxSortKey:
		hi.set = hi.set && !lo.set
	}
	operator := func(b bound, open, closed string) string {
		if b.open {
			return open
		}
		return closed
	}
	switch {
	case lo.set && hi.set:
		values[":hs_lo"], values[":hs_hi"] = lo.value.attribute(), hi.value.attribute()
		return "#hs_sk BETWEEN :hs_lo AND :hs_hi"
	case lo.set:
		values[":hs_lo"] = lo.value.attribute()
		return "#hs_sk " + operator(lo, ">", ">=") + " :hs_lo"
	case hi.set:
		values[":hs_hi"] = hi.value.attribute()
		return "#hs_sk " + operator(hi, "<", "<=") + " :hs_hi"
	}
	return ""
}
