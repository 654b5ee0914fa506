package carry

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
)

// After a lost answer a write may have happened. It is repeated only if it may be. If no answer shows what became of it, the error says so.
// It is never called stale, which would say that it had no effect, nor refused.
func TestLostWrites(t *testing.T) {
	add := func(table express.Table) (*express.User, error) {
		return table.Update(&dynamodb.UpdateItemInput{Key: key("k", "id"), UpdateExpression: aws.String("ADD v :n"), ExpressionAttributeValues: express.Item{":n": number(1)}})
	}
	put := func(table express.Table) (*express.User, error) {
		return table.Put(&dynamodb.PutItemInput{Item: express.Item{"pk": text("k"), "sk": text("id"), "v": number(7)}})
	}
	create := func(table express.Table) (*express.User, error) {
		return table.Put(&dynamodb.PutItemInput{Item: express.Item{"pk": text("k"), "sk": text("id"), "v": number(7)}, ConditionExpression: aws.String("attribute_not_exists(pk)")})
	}
	swap := func(table express.Table) (*express.User, error) {
		return table.Update(&dynamodb.UpdateItemInput{
			Key: key("k", "id"), UpdateExpression: aws.String("SET v = :new"), ConditionExpression: aws.String("v = :old"),
			ExpressionAttributeValues: express.Item{":old": number(5), ":new": number(7)},
		})
	}
	remove := func(table express.Table) (*express.User, error) {
		return table.Delete(&dynamodb.DeleteItemInput{Key: key("k", "id")})
	}
	removeIf := func(table express.Table) (*express.User, error) {
		return table.Delete(&dynamodb.DeleteItemInput{Key: key("k", "id"), ConditionExpression: aws.String("v = :old"), ExpressionAttributeValues: express.Item{":old": number(5)}})
	}
	lost := []faulty.Fault{faulty.LostAnswer}
	for name, c := range map[string]struct {
		user       func(express.Table) (*express.User, error)
		before     int64 // the value of the item in the old home, 0 for none
		repeatable bool
		phase      forward.Phase
		faults     []faulty.Fault // of the user's own writes
		slow       time.Duration  // the first request
		want       forward.Outcome
		requests   int // that change something, with those that were not sent for their lease
	}{
		"update":                              {user: add, faults: lost, requests: 1},
		"repeatable update":                   {user: add, repeatable: true, faults: lost, want: forward.Done, requests: 2},
		"update, and then the lease is over":  {user: add, repeatable: true, faults: lost, slow: 2 * lease.Term, requests: 2},
		"update, and then denied":             {user: add, repeatable: true, faults: []faulty.Fault{faulty.LostAnswer, faulty.Denied}, requests: 2},
		"update, and then throttled":          {user: add, repeatable: true, faults: []faulty.Fault{faulty.LostAnswer, faulty.Throttled, faulty.Throttled, faulty.Throttled, faulty.Throttled, faulty.Throttled}, requests: 6},
		"throttled, and then lost":            {user: add, faults: []faulty.Fault{faulty.Throttled, faulty.LostAnswer}, requests: 2},
		"request did not arrive":              {user: add, repeatable: true, faults: []faulty.Fault{faulty.LostRequest}, want: forward.Done, requests: 2},
		"put":                                 {user: put, repeatable: true, faults: lost, want: forward.Done, requests: 2},
		"put of a live item of a split key":   {user: put, before: 5, phase: forward.Split, repeatable: true, faults: lost, want: forward.Done, requests: 2},
		"create":                              {user: create, repeatable: true, faults: lost, requests: 2},
		"create that did not arrive":          {user: create, repeatable: true, faults: []faulty.Fault{faulty.LostRequest}, want: forward.Done, requests: 2},
		"create of a closed key":              {user: create, phase: forward.Closed, repeatable: true, faults: lost, requests: 2},
		"create of an item that is there":     {user: create, before: 5, repeatable: true, faults: lost, requests: 2},
		"swap":                                {user: swap, before: 5, repeatable: true, faults: lost, requests: 2},
		"swap of a split key":                 {user: swap, before: 5, phase: forward.Split, repeatable: true, faults: lost, requests: 2},
		"delete":                              {user: remove, before: 5, repeatable: true, faults: lost, want: forward.Refused, requests: 2},
		"delete of an absent item":            {user: remove, repeatable: true, faults: lost, want: forward.Refused, requests: 2},
		"delete with a condition":             {user: removeIf, before: 5, repeatable: true, faults: lost, requests: 2},
		"delete with a condition, not lost":   {user: removeIf, before: 5, want: forward.Done, requests: 1},
		"delete, not repeatable":              {user: remove, before: 5, faults: lost, requests: 1},
		"broke down":                          {user: put, faults: []faulty.Fault{faulty.BrokeDown}, requests: 1},
		"throttled, and then the lease over":  {user: add, faults: []faulty.Fault{faulty.Throttled}, slow: 2 * lease.Term, want: forward.Stale, requests: 2},
		"unreached, and then the lease over":  {user: put, faults: []faulty.Fault{faulty.Unreached}, slow: 2 * lease.Term, want: forward.Stale, requests: 2},
		"the lease over before the first one": {user: put, slow: 4 * lease.Term, want: forward.Stale, requests: 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				h := newHouse(t, faulty.Script(c.faults...).Of("PutItem", "UpdateItem", "DeleteItem"))
				if c.before != 0 {
					h.store("a", "id", c.before, "")
				}
				u, err := c.user(h.table)
				if err != nil {
					t.Fatal(err)
				}
				at := h.place(c.phase, "id")
				h.client.Delay(slow(c.slow))
				r, err := h.carrier.Operate(t.Context(), at, u, forward.OldFirst, c.repeatable)
				_, isLost := errors.AsType[*LostError](err)
				stale := errors.Is(err, ErrStale)
				_, failed := errors.AsType[*types.ConditionalCheckFailedException](err)
				switch {
				case c.want == forward.Running && (!isLost || stale || failed):
					t.Errorf("got %+v, %v, want a LostError that is nothing else", r, err)
				case c.want == forward.Stale && (!stale || isLost):
					t.Errorf("got %+v, %v, want ErrStale", r, err)
				case c.want != forward.Running && c.want != forward.Stale && (err != nil || r.Outcome != c.want || r.Refused != nil):
					t.Errorf("got %+v, %v, want %d", r, err, c.want)
				}
				if got := h.client.Count("PutItem") + h.client.Count("UpdateItem") + h.client.Count("DeleteItem"); got != c.requests {
					t.Errorf("%d requests were sent, want %d", got, c.requests)
				}
			})
		})
	}
}

// A write whose answer was lost is not called stale when it then meets a mark of a later phase.
func TestLostThenStale(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHouse(t, nil)
		h.store("a", "id", 5, "")
		u, err := h.table.Put(&dynamodb.PutItemInput{Item: key("k", "id")})
		if err != nil {
			t.Fatal(err)
		}
		at := h.place(forward.Settled, "id")
		first := true
		h.client.Decide(func(faulty.Request) faulty.Fault {
			if !first {
				return faulty.None
			}
			first = false
			h.store("a", "id", 5, "z") // a mover, before the first attempt arrives
			return faulty.LostAnswer
		})
		_, err = h.carrier.Operate(t.Context(), at, u, forward.OldFirst, true)
		if _, ok := errors.AsType[*LostError](err); !ok || errors.Is(err, ErrStale) {
			t.Errorf("got %v, want a LostError, not ErrStale", err)
		}
	})
}

// After ErrStale nothing of the user's has happened, in whichever phase and home the operation has met the mark.
func TestStaleHasNoEffect(t *testing.T) {
	marks := map[forward.Home][]string{forward.Old: {"z", "s"}, forward.New: {"y1", "y0"}}
	stale := 0
	for _, phase := range []forward.Phase{forward.Settled, forward.Split, forward.Closed, forward.Settling, forward.Back} {
		for _, first := range []forward.First{forward.OldFirst, forward.NewFirst, forward.StubFirst} {
			for home, marks := range marks {
				for _, mark := range marks {
					for kind := forward.Get; kind <= forward.Delete; kind++ {
						if kind == forward.List || kind == forward.Update {
							continue
						}
						bubble.Test(t, func(t *testing.T) {
							h := newHouse(t, nil)
							x := &town{table: h.table}
							value := int64(5)
							if mark == "s" || mark == "y0" {
								value = 0
							}
							name := map[forward.Home]string{forward.Old: "a", forward.New: "b"}[home]
							h.store(name, "id", value, mark)
							if home == forward.New {
								h.store("a", "id", 0, "s")
							}
							u, err := x.user(what{kind: kind, to: 7, from: 5}, "id")
							if err != nil {
								t.Fatal(err)
							}
							before := h.stored(name, "id")
							_, err = h.carrier.Operate(t.Context(), h.place(phase, "id"), u, first, false)
							if !errors.Is(err, ErrStale) {
								return
							}
							stale++
							for _, home := range []string{"a", "b"} {
								if v, ok := h.stored(home, "id")["v"].(*types.AttributeValueMemberN); ok && v.Value == "7" {
									t.Errorf("%v %v in %v: stale, but home %s has what it writes", kind, first, phase, home)
								}
							}
							if after := h.stored(name, "id"); len(after) != len(before) {
								t.Errorf("%v %v in %v: stale, but home %s has %v, want %v", kind, first, phase, name, after, before)
							}
						})
					}
				}
			}
		}
	}
	if stale < 60 {
		t.Errorf("%d operations were stale, too few to mean anything", stale)
	}
	t.Logf("%d operations were stale", stale)
}
