package express

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attribute"
	"github.com/heatsink-go/heatsink/internal/forward"
)

// A read with a projection sees the marks, and the user sees what was asked for.
func TestProjectedReads(t *testing.T) {
	b := newBench(t)
	rapid.Check(t, func(t *rapid.T) {
		h := b.homes()
		slot := forward.Slot[Item]{State: rapid.SampledFrom(states).Draw(t, "state")}
		plainKey := Item{"pk": text("plain"), "sk": h.Old["sk"]}
		if s := slot.State; s == forward.Live || s == forward.Frozen || s == forward.Leaving {
			slot.Content = drawContent(t, "stored")
			plain := maps.Clone(slot.Content)
			maps.Copy(plain, plainKey)
			b.store(t, plain)
		}
		if item := stored(t, slot, h.Old); item != nil {
			b.store(t, item)
		}
		in := &dynamodb.GetItemInput{TableName: aws.String("tab"), Key: plainKey, ConsistentRead: aws.Bool(true)}
		paths := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"#a", "b", "c.a", "pk", "sk", "d"}), rapid.ID).Draw(t, "paths")
		if len(paths) > 0 {
			in.ProjectionExpression = aws.String(strings.Join(paths, ", "))
			in.ExpressionAttributeNames, _ = used(in.ProjectionExpression)
		}
		want := b.send(Request{Get: in}, false, "")
		u, err := b.table.Get(in)
		if err != nil {
			t.Fatalf("%v: %v", paths, err)
		}
		r, err := h.Express(forward.Request[Item]{}, u)
		if err != nil {
			t.Fatalf("%v: %v", paths, err)
		}
		if !aws.ToBool(r.Get.ConsistentRead) {
			t.Fatalf("the read is not strongly consistent")
		}
		got, err := b.send(r, false, "").answer(r)
		if err != nil || got.Slot.State != slot.State || !got.Done {
			t.Fatalf("%v of %v: got %s, %v", paths, slot.State, showSlot(got.Slot), err)
		}
		if (got.Slot.Content == nil) != (want.returned == nil) || !attribute.Same(alike(got.Slot.Content), alike(want.returned)) ||
			(got.Slot.Content["pk"] == nil) != (want.returned["pk"] == nil) {
			t.Fatalf("%v of %v: got %s, want %s", paths, slot.State, show(got.Slot.Content), show(want.returned))
		}
	})
}

// An item that can be frozen can be copied, and one that can be marked for the way back can be returned, however large it is.
func TestWhatIsFrozenFits(t *testing.T) {
	b := newBench(t)
	const limit = 400 << 10
	long := text("k" + strings.Repeat("#", 60))
	for _, c := range []struct {
		name           string
		from, to       types.AttributeValue
		freeze, settle forward.Act
		home           forward.Home
	}{
		{"to a longer key", text("k"), long, forward.Freeze, forward.Copy, forward.Old},
		{"to a shorter key", long, text("k"), forward.Freeze, forward.Copy, forward.Old},
		{"back to a longer key", text("k"), long, forward.FreezeBack, forward.Return, forward.New},
		{"back to a shorter key", long, text("k"), forward.FreezeBack, forward.Return, forward.New},
	} {
		frozen, refused := 0, 0
		for less := 0; less < 130; less += 4 {
			b.ids++
			sk := text(fmt.Sprint("large", b.ids))
			h := Homes{Table: b.table, Old: Item{"pk": c.from, "sk": sk}, New: Item{"pk": c.to, "sk": sk}}
			if c.home == forward.New {
				h.Old, h.New = h.New, h.Old
				b.store(t, Item{"pk": c.to, "sk": sk, forwarded: text(stub)})
			}
			item := Item{"pk": c.from, "sk": sk, "a": text("")}
			item["a"] = text(strings.Repeat("x", limit-less-attribute.SizeOf(item).Bytes))
			b.store(t, item)
			request, err := h.Express(forward.Request[Item]{Home: c.home, Act: c.freeze}, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := b.send(request, false, "").answer(request)
			if err != nil {
				if !strings.Contains(err.Error(), "size") || !attribute.Same(b.load(t, Item{"pk": c.from, "sk": sk}), item) {
					t.Fatalf("%s, %d bytes less: %v", c.name, less, err)
				}
				refused++
				continue
			}
			frozen++
			request, err = h.Express(forward.Request[Item]{Home: c.home.Other(), Act: c.settle, Content: answer.Slot.Content, Generation: 1<<64 - 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err = b.send(request, false, "").answer(request)
			if err != nil || !answer.Done {
				t.Fatalf("%s, %d bytes less: frozen, and then %+v, %v", c.name, less, answer, err)
			}
		}
		if frozen == 0 || refused == 0 || refused > 100 {
			t.Errorf("%s: %d were frozen and %d refused, want some of each, and no more refused than the copy needs", c.name, frozen, refused)
		}
	}
}

// A caller that mixes up requests is told.
func TestMistakesOfTheCaller(t *testing.T) {
	h := Homes{Table: tab, Old: anyKey, New: Item{"pk": text("k#1"), "sk": text("id")}}
	get, _ := tab.Get(&dynamodb.GetItemInput{Key: anyKey})
	put, _ := tab.Put(&dynamodb.PutItemInput{Item: anyKey})
	elsewhere, _ := Table{"other", "pk", "sk"}.Put(&dynamodb.PutItemInput{Item: anyKey})
	another, _ := tab.Put(&dynamodb.PutItemInput{Item: Item{"pk": text("k"), "sk": text("other")}})
	with := func(edit func(*Homes)) Homes {
		own := h
		edit(&own)
		return own
	}
	for name, c := range map[string]struct {
		homes Homes
		act   forward.Act
		user  *User
		want  string
	}{
		"a write of nobody":     {h, forward.Write, nil, "give the one"},
		"a write by a get":      {h, forward.WriteExisting, get, "give the one"},
		"a kill by a put":       {h, forward.Kill, put, "give the one"},
		"a read by a put":       {h, forward.Read, put, "give the one"},
		"another table":         {h, forward.Write, elsewhere, `for table "other"`},
		"another id":            {h, forward.Write, another, `different "sk"`},
		"homes of two ids":      {with(func(h *Homes) { h.New = Item{"pk": text("k#1"), "sk": text("x")} }), forward.Freeze, nil, `different "sk"`},
		"no partition key":      {with(func(h *Homes) { h.Old = Item{"sk": text("id")} }), forward.Freeze, nil, `"pk" is missing`},
		"no sort key":           {with(func(h *Homes) { h.Old = Item{"pk": text("k")} }), forward.Freeze, nil, "1 attributes"},
		"more than a key":       {with(func(h *Homes) { h.Old = Item{"pk": text("k"), "sk": text("id"), "a": text("x")} }), forward.Freeze, nil, "3 attributes"},
		"a number as partition": {with(func(h *Homes) { h.Old = Item{"pk": number(1), "sk": text("id")} }), forward.Freeze, nil, `"pk" is the number`},
		"an unknown act":        {h, forward.Thaw + 1, nil, "no such act"},
	} {
		if _, err := c.homes.Express(forward.Request[Item]{Act: c.act}, c.user); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

// Errors other than a failed condition are the caller's, and so are reasons of transactions.
func TestOtherErrors(t *testing.T) {
	h := Homes{Table: tab, Old: anyKey, New: Item{"pk": text("k#1"), "sk": text("id")}}
	r, err := h.Express(forward.Request[Item]{Act: forward.Freeze}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Answer(nil, context.DeadlineExceeded); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
	if _, err := r.Answer(nil, &types.ConditionalCheckFailedException{Item: Item{"pk": text("k"), forwarded: text("?")}}); !errors.Is(err, ErrStored) {
		t.Errorf("got %v, want ErrStored", err)
	}
	if _, err := r.Answer(anyKey, nil); err == nil || !strings.Contains(err.Error(), "is live") {
		t.Errorf("got %v, want an error about a freeze that did not freeze", err)
	}
	if _, err := r.Reason(types.CancellationReason{Code: aws.String("TransactionConflict")}); err == nil || !strings.Contains(err.Error(), "TransactionConflict") {
		t.Errorf("got %v, want the conflict", err)
	}
	if a, err := r.Reason(types.CancellationReason{Code: aws.String("None")}); err != nil || !a.Done {
		t.Errorf("got %+v, %v, want a part that was fine", a, err)
	}
	read, _ := h.Express(forward.Request[Item]{}, nil)
	if _, ok := read.Part(); ok {
		t.Error("a read is no part of a transaction that writes")
	}
}

// The user's request stays as it was.
func TestRequestsAreNotChanged(t *testing.T) {
	in := &dynamodb.GetItemInput{Key: anyKey, AttributesToGet: slices.Grow([]string{"a"}, 9)}
	u, err := tab.Get(in)
	if err != nil {
		t.Fatal(err)
	}
	h := Homes{Table: tab, Old: anyKey, New: Item{"pk": text("k#1"), "sk": text("id")}}
	r, err := h.Express(forward.Request[Item]{}, u)
	if err != nil || in.ConsistentRead != nil || len(in.AttributesToGet) != 1 || in.AttributesToGet[:2][1] != "" || len(r.Get.AttributesToGet) != 5 {
		t.Errorf("got %+v, %v, and the user's %+v", r.Get, err, in)
	}
	item := Item{"pk": text("k"), "sk": text("id"), "a": text("x")}
	names, values := map[string]string{"#a": "a"}, Item{":a": text("x")}
	put := &dynamodb.PutItemInput{Item: maps.Clone(item), ConditionExpression: aws.String("#a = :a"), ExpressionAttributeNames: maps.Clone(names), ExpressionAttributeValues: maps.Clone(values)}
	update := &dynamodb.UpdateItemInput{Key: maps.Clone(anyKey), UpdateExpression: aws.String("SET #a = :a"), ExpressionAttributeNames: maps.Clone(names), ExpressionAttributeValues: maps.Clone(values)}
	remove := &dynamodb.DeleteItemInput{Key: maps.Clone(anyKey), ConditionExpression: aws.String("#a = :a"), ExpressionAttributeNames: maps.Clone(names), ExpressionAttributeValues: maps.Clone(values)}
	for name, user := range map[string]func() (*User, error){
		"put":    func() (*User, error) { return tab.Put(put) },
		"update": func() (*User, error) { return tab.Update(update) },
		"delete": func() (*User, error) { return tab.Delete(remove) },
	} {
		u, err := user()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Express(forward.Request[Item]{Home: forward.New, Act: forward.Write}, u); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	same := func(a, b Item) bool { return attribute.Same(a, b) }
	if !same(put.Item, item) || !same(update.Key, anyKey) || !same(remove.Key, anyKey) ||
		!same(put.ExpressionAttributeValues, values) || !same(update.ExpressionAttributeValues, values) || !same(remove.ExpressionAttributeValues, values) ||
		!maps.Equal(put.ExpressionAttributeNames, names) || !maps.Equal(update.ExpressionAttributeNames, names) || !maps.Equal(remove.ExpressionAttributeNames, names) {
		t.Errorf("the user's requests became %+v, %+v, %+v", put, update, remove)
	}
}

// A Remove does not touch a copy by a move that its process does not know of. A Put over a dead item returns nothing of it.
func TestCopiesAndDeadItems(t *testing.T) {
	b := newBench(t)
	for generation, want := range map[uint64]bool{1: false, 2: true, 3: true} {
		h := b.homes()
		item := Item{"a": text("x"), moved: number(2)}
		maps.Copy(item, h.New)
		b.store(t, item)
		u, err := b.table.Delete(&dynamodb.DeleteItemInput{Key: h.Old})
		if err != nil {
			t.Fatal(err)
		}
		r, err := h.Express(forward.Request[Item]{Home: forward.New, Act: forward.WriteOwn, Generation: generation}, u)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := b.send(r, false, "").answer(r); err != nil || a.Done != want || (b.load(t, h.New) == nil) != want {
			t.Errorf("generation %d: got %+v, %v, want done to be %v", generation, a, err, want)
		}
	}
	h := b.homes()
	item := Item{dead: &types.AttributeValueMemberBOOL{Value: true}}
	maps.Copy(item, h.New)
	b.store(t, item)
	u, err := b.table.Put(&dynamodb.PutItemInput{Item: maps.Clone(h.Old), ReturnValues: types.ReturnValueAllOld})
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Express(forward.Request[Item]{Home: forward.New, Act: forward.Write}, u)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.send(r, false, ""); got.err != nil || len(r.Returned(got.returned)) != 0 {
		t.Errorf("got %v, %v, want nothing of the dead item", r.Returned(got.returned), got.err)
	}
}
