package express

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/forward"
)

func TestOddMarksAreRefused(t *testing.T) {
	yes := &types.AttributeValueMemberBOOL{Value: true}
	for name, c := range map[string]struct {
		item Item
		want string
	}{
		"both marks":            {Item{forwarded: text("s"), dead: yes}, "it has _hs_f and _hs_d"},
		"an unknown kind":       {Item{forwarded: text("q")}, `_hs_f is the string "q"`},
		"an empty kind":         {Item{forwarded: text("")}, `_hs_f is the string ""`},
		"a kind as a number":    {Item{forwarded: number(1)}, `_hs_f is the number "1"`},
		"a padded stub":         {Item{forwarded: text("s-")}, `_hs_f is the string "s-"`},
		"a padded left":         {Item{forwarded: text("y0-")}, `_hs_f is the string "y0-"`},
		"dead as text":          {Item{dead: text("d")}, `_hs_d is the string "d"`},
		"not dead":              {Item{dead: &types.AttributeValueMemberBOOL{}}, "_hs_d is a BOOL"},
		"a stub with content":   {Item{forwarded: text("s"), "a": text("x")}, `it is stub, but has the attribute "a"`},
		"dead with content":     {Item{dead: yes, "a": text("x")}, `it is dead, but has the attribute "a"`},
		"left with the content": {Item{forwarded: text("y0"), "a": text("x")}, `it is left, but has the attribute "a"`},
	} {
		c.item["pk"], c.item["sk"] = text("k"), text("id")
		_, err := tab.Slot(c.item)
		if !errors.Is(err, ErrStored) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `item "k" of table "tab"`) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

// An item that has a key and nothing else is live or frozen, and not a stub.
func TestItemsOfAKeyOnly(t *testing.T) {
	for mark, want := range map[string]forward.State{"": forward.Live, "z--": forward.Frozen, "s": forward.Stub, "y1": forward.Leaving, "y0": forward.Left} {
		item := Item{"pk": text("k"), "sk": text("id")}
		if mark != "" {
			item[forwarded] = text(mark)
		}
		s, err := tab.Slot(item)
		if has := len(s.Content) == 2; err != nil || s.State != want || has != (want != forward.Stub && want != forward.Left) {
			t.Errorf("%q: got %s, %v, want %v", mark, showSlot(s), err, want)
		}
	}
}

// Take says the same as Slot, of the item itself: its marks are gone, and there is no copy.
func TestTakeIsSlotWithoutACopy(t *testing.T) {
	yes := &types.AttributeValueMemberBOOL{Value: true}
	for name, marks := range map[string]Item{
		"live": {}, "copied": {moved: number(7)}, "frozen": {forwarded: text("z--")}, "leaving": {forwarded: text("y1")},
		"stub": {forwarded: text("s")}, "dead": {dead: yes}, "odd": {forwarded: text("q")},
	} {
		item := Item{"pk": text("k"), "sk": text("id")}
		if name != "stub" && name != "dead" {
			item["a"] = text("x")
		}
		maps.Copy(item, marks)
		want, failed := tab.Slot(item)
		got, err := tab.Take(item)
		if (err == nil) != (failed == nil) || got.State != want.State || !attribute.Same(got.Content, want.Content) {
			t.Errorf("%s: got %s, %v, want %s, %v", name, showSlot(got), err, showSlot(want), failed)
		}
		if got.Content == nil {
			continue
		}
		if got.Content["new"] = yes; item["new"] == nil || len(item) != 4 {
			t.Errorf("%s: got a copy, or marks are left: %s", name, show(item))
		}
	}
	if got, err := tab.Take(nil); got.State != forward.Absent || err != nil {
		t.Errorf("nothing: got %s, %v", showSlot(got), err)
	}
}

// An item that makes no sense is neither dropped nor replaced.
func TestOddItemsStay(t *testing.T) {
	b := newBench(t)
	for _, act := range []forward.Act{
		forward.PutStub, forward.MarkBack, forward.DropDead, forward.Copy, forward.Freeze, forward.FreezeBack, forward.DropBack, forward.Thaw,
	} {
		h := b.homes()
		odd := Item{"pk": h.Old["pk"], "sk": h.Old["sk"], "a": text("x"), forwarded: text("z"), dead: &types.AttributeValueMemberBOOL{Value: true}}
		b.store(t, odd)
		r, err := h.Express(forward.Request[Item]{Act: act}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.send(r, false, "").answer(r); !errors.Is(err, ErrStored) || !attribute.Same(b.load(t, h.Old), odd) {
			t.Errorf("%v: got %v, and the item is %s, want ErrStored and %s", act, err, show(b.load(t, h.Old)), show(odd))
		}
	}
}

func TestTablesAreRefused(t *testing.T) {
	for _, c := range [][3]string{{"", "pk", "sk"}, {"tab", "", "sk"}, {"tab", "pk", "pk"}, {"tab", "_hs_f", ""}, {"tab", "pk", "_hs_x"}} {
		if _, err := NewTable(c[0], c[1], c[2]); err == nil {
			t.Errorf("%q: no error", c)
		}
	}
	if _, err := NewTable("tab", "pk", ""); err != nil {
		t.Error(err)
	}
}

// A table that is named by its ARN has the items of the table with that name, and another one has none of them.
func TestSameOfATable(t *testing.T) {
	const arn = "arn:aws:dynamodb:us-east-1:123456789012:table/"
	for _, own := range []string{"tab", arn + "tab"} {
		table := Table{own, "pk", "sk"}
		for name, want := range map[string]bool{"tab": true, arn + "tab": true, "other": false, arn + "other": false} {
			id, ok := table.Same(name, anyKey)
			same, _ := tab.Same("tab", anyKey)
			if ok != want || ok && id != same {
				t.Errorf("%q in table %q: %q, %t, want %t", name, own, id, ok, want)
			}
		}
	}
}

// Requests for a home name its table, whatever the user's request names.
func TestRequestsNameTheTableOfTheHome(t *testing.T) {
	h := Homes{Table: tab, Old: anyKey, New: anyKey, NewTable: "other"}
	u, err := tab.Put(&dynamodb.PutItemInput{TableName: aws.String("tab"), Item: anyKey})
	if err != nil {
		t.Fatal(err)
	}
	for home, want := range map[forward.Home]string{forward.Old: "tab", forward.New: "other"} {
		for _, act := range []forward.Act{forward.Write, forward.PutStub, forward.Copy, forward.Strip, forward.Return} {
			r, err := h.Express(forward.Request[Item]{Home: home, Act: act, Content: anyKey}, u)
			if err != nil || *r.Put.TableName != want {
				t.Errorf("%v in the %v home names %v, %v, want %s", act, home, r.Put, err, want)
			}
		}
	}
}
