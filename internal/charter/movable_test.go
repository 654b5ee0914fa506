package charter

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/heatsink-go/heatsink/layout"
)

func movable() Charter {
	return Charter{Movable: true, Layout: layout.Layout{Shards: 16, Strategy: layout.Calculated}, PartitionKey: "pk", SortKey: "sk", By: "host-1", At: 1767323045000}
}

// A version of heatsink that does not know how items move refuses the collection.
func TestOlderVersionsRefuseMovable(t *testing.T) {
	stored := made(t, movable()).Encode()
	now := known
	defer func() { known = now }()
	known = slices.DeleteFunc(slices.Clone(known), func(need string) bool { return need == NeedMove })
	if c, err := Parse(stored); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), `it needs ["move"]`) {
		t.Errorf("got %+v, %v, want ErrNewer", c, err)
	}
}

// Another record has the layout of a movable collection, so those of charters may differ.
func TestCompareMovable(t *testing.T) {
	base := made(t, movable())
	fixed := edited(t, movable(), func(c *Charter) { c.Movable = false })
	for _, c := range []struct {
		name         string
		mine, stored Charter
		want         []string // parts of the error; nil: there is none
	}{
		{"the same", base, base, nil},
		{"another layout", edited(t, movable(), func(c *Charter) {
			c.Layout = layout.Layout{Shards: 4, Strategy: layout.Calculated, Hash: layout.FNV, Format: layout.PlainNumber()}
		}), base, nil},
		{"another sort key", edited(t, movable(), func(c *Charter) { c.SortKey = "seq" }), base, []string{"SortKey", "ShardBy"}},
		{"this process does not move", fixed, base, []string{"Movable is off in this process and on in the charter", "turn it on in this process"}},
		{"the others do not move yet", base, fixed, nil},
		{"the others do not move, and have another layout", edited(t, movable(), func(c *Charter) { c.Layout.Shards = 4 }), fixed, []string{"Layout.Shards to 16"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Compare(c.mine, c.stored)
			if (err != nil) != (c.want != nil) || err != nil && !errors.Is(err, ErrIncompatible) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
			if err != nil && strings.Contains(err.Error(), "needs to know") {
				t.Errorf("got %v, which tells the same difference twice", err)
			}
		})
	}
}

func TestMovableRefuses(t *testing.T) {
	for name, edit := range map[string]func(*Charter){
		"adaptive widths":  func(c *Charter) { c.Widths = Adaptive },
		"an older layout":  func(c *Charter) { c.Older = []layout.Layout{{}} },
		"a bucket":         func(c *Charter) { c.Layout.Bucket, c.EventTime = layout.Day, EventTime{"at", RFC3339} },
		"without its need": func(c *Charter) {},
	} {
		c := movable()
		edit(&c)
		made, err := New(c)
		if name == "without its need" {
			made.Needs = nil
			err = made.Validate()
		}
		if !errors.Is(err, ErrCharter) || !strings.Contains(err.Error(), "movable") {
			t.Errorf("%s: got %v, want ErrCharter", name, err)
		}
	}
}

func TestMovableDocument(t *testing.T) {
	base := made(t, movable())
	text, err := json.Marshal(base)
	if err != nil || !strings.Contains(string(text), `"movable":true`) {
		t.Fatalf("got %s, %v", text, err)
	}
	fixed := edited(t, movable(), func(c *Charter) { c.Movable, c.Layout.Shards = false, 4 })
	if got := Changes(base, fixed); !slices.Contains(got, "movable changes from true to false") {
		t.Errorf("got %q", got)
	}
	if got := Missed(base, fixed); len(got) != 1 || !strings.Contains(got[0], "may have moved") {
		t.Errorf("got %q", got)
	}
	if got := Missed(base, edited(t, movable(), func(c *Charter) { c.Layout.Shards = 4 })); got != nil {
		t.Errorf("got %q", got)
	}
}
