package carry

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
)

// An item of a list moves to its new home, unless another item is there, whatever others have left it in.
func TestMoveListed(t *testing.T) {
	for name, c := range map[string]struct {
		old   int64
		mark  string
		new   int64
		clash bool
	}{
		"live":                           {7, "", 0, false},
		"frozen":                         {7, "z", 0, false},
		"copied, and not stripped":       {7, "z---", 7, false},
		"a late duplicate":               {7, "", 7, false},
		"another item":                   {7, "", 8, true},
		"frozen, and then another item":  {7, "z", 8, true},
		"moved":                          {0, "s", 7, false},
		"moved, and replaced by another": {0, "s", 8, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				h := newHouse(t, faulty.Random(rand.New(rand.NewPCG(1, 2)), 3, faulty.LostAnswer, faulty.LostRequest))
				h.store("a", "id", c.old, c.mark)
				if c.new != 0 {
					h.store("b", "id", c.new, "")
				}
				err := h.carrier.MoveListed(t.Context(), h.place(forward.Split, "id"))
				if clash, ok := errors.AsType[*ClashError](err); ok != c.clash || !ok && err != nil {
					t.Fatalf("got %v, want a clash: %t", err, c.clash)
				} else if ok && (!strings.Contains(clash.Error(), `"a"`) || !strings.Contains(clash.Error(), `"b"`)) {
					t.Errorf("got %v, want both items", err)
				}
				old, new := h.stored("a", "id"), h.stored("b", "id")
				if c.clash {
					if old["_hs_f"] != nil || value(old) != c.old || value(new) != c.new {
						t.Errorf("after a clash: %v and %v", old, new)
					}
					return
				}
				if value(old) != 0 || old["_hs_f"] == nil || value(new) != max(c.new, c.old) || new["_hs_f"] != nil {
					t.Errorf("moved to %v and %v", old, new)
				}
			})
		})
	}
}

// value returns the value of a stored item, 0 if it has none.
func value(item express.Item) (n int64) {
	if v, ok := item["v"].(*types.AttributeValueMemberN); ok {
		n, _ = strconv.ParseInt(v.Value, 10, 64)
	}
	return n
}
