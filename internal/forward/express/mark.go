package express

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/forward"
)

// The marks.
const (
	forwarded = "_hs_f" // see the states below
	dead      = "_hs_d" // true
	moved     = "_hs_m" // the generation by which an item was copied
)

// What forwarded says.
const (
	frozen  = "z"
	stub    = "s"
	leaving = "y1"
	left    = "y0"
	back    = "y" // begins the two
)

// marks are the attributes that mark items.
var marks = [...]string{forwarded, dead, moved}

// Marks returns the attributes that mark items. Reads need the first two, in projections as well.
func Marks() []string { return slices.Clone(marks[:]) }

// isMark reports whether an attribute is a mark.
func isMark(name string) bool { return name == forwarded || name == dead || name == moved }

// Slot returns what a home has, by the item that was read there. An item without attributes is absent, so a read must not project the
// key away. It returns ErrStored if heatsink would not have written the item.
func (t Table) Slot(item Item) (forward.Slot[Item], error) { return t.slot(item, unmarked) }

// Take is Slot for a read of many items, which owns them: it removes the marks from the item itself, and makes no copy.
func (t Table) Take(item Item) (forward.Slot[Item], error) {
	return t.slot(item, func(own Item) Item {
		for _, name := range marks {
			delete(own, name)
		}
		return own
	})
}

// slot returns what a home has. content removes the marks from an item.
func (t Table) slot(item Item, content func(Item) Item) (forward.Slot[Item], error) {
	if len(item) == 0 {
		return forward.Slot[Item]{}, nil
	}
	state, err := t.state(item)
	s := forward.Slot[Item]{State: state}
	if err != nil {
		return s, err
	}
	if state == forward.Stub || state == forward.Dead || state == forward.Left {
		for name := range item {
			if !t.isKey(name) && !isMark(name) {
				return s, t.odd(item, fmt.Sprintf("it is %v, but has the attribute %q", state, name))
			}
		}
		return s, nil
	}
	if state == forward.Live {
		s.Copied = copied(item[moved])
	}
	s.Content = content(item)
	return s, nil
}

// copied returns the generation by which an item was copied, 0 if its mark has none.
func copied(mark types.AttributeValue) uint64 {
	n, ok := mark.(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	generation, err := strconv.ParseUint(n.Value, 10, 64)
	if err != nil {
		return 0
	}
	return generation
}

// state returns what the marks of an item say.
func (t Table) state(item Item) (forward.State, error) {
	f, d := item[forwarded], item[dead]
	switch {
	case f == nil && d == nil:
		return forward.Live, nil
	case f != nil && d != nil:
		return 0, t.odd(item, "it has "+forwarded+" and "+dead)
	case d != nil:
		if v, ok := d.(*types.AttributeValueMemberBOOL); !ok || !v.Value {
			return 0, t.odd(item, dead+" is "+attribute.Describe(d))
		}
		return forward.Dead, nil
	}
	if v, ok := f.(*types.AttributeValueMemberS); ok {
		switch text := strings.TrimRight(v.Value, padding); {
		case text == frozen:
			return forward.Frozen, nil
		case text == leaving:
			return forward.Leaving, nil
		case v.Value == stub:
			return forward.Stub, nil
		case v.Value == left:
			return forward.Left, nil
		}
	}
	return 0, t.odd(item, forwarded+" is "+attribute.Describe(f))
}

// odd returns the error for an item that heatsink has not written.
func (t Table) odd(item Item, what string) error {
	return fmt.Errorf("item %s of table %q: %w: %s: let no other program write to the table, and repair the item",
		attribute.DescribeKey(item, t.partition), t.name, ErrStored, what)
}

// unmarked returns an item without its marks. It is nil if nothing is left.
func unmarked(item Item) Item {
	own := maps.Clone(item)
	for _, name := range marks {
		delete(own, name)
	}
	if len(own) == 0 {
		return nil
	}
	return own
}

// padding makes a mark longer.
const padding = "-"

// numberBytes is what a number takes at most in an item.
const numberBytes = 21

// pad returns a mark that makes an item at least as large as its copy under another partition key will be. The copy has an attribute
// with a number in addition, or none. So an item that is too large for its new home is refused when it is frozen. Later it would be
// too late: everybody waits for the copy.
func pad(mark string, from, to types.AttributeValue, number bool) types.AttributeValue {
	more := keyBytes(to) - keyBytes(from) - len(forwarded) - len(mark)
	if number {
		more += len(moved) + numberBytes
	}
	return text(mark + strings.Repeat(padding, max(more, 0)))
}

// keyBytes returns the size of a partition key.
func keyBytes(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	}
	return 0
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n uint64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatUint(n, 10)}
}
