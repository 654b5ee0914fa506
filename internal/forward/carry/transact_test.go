package carry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/dispatch"
	"github.com/heatsink-go/heatsink/internal/faulty"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
)

// action returns an action on an id.
func (h *house) action(phase forward.Phase, id string, first forward.First, in types.TransactWriteItem) Action {
	h.t.Helper()
	u, err := h.table.Part(in)
	if err != nil {
		h.t.Fatal(err)
	}
	return Action{At: h.place(phase, id), User: u, First: first}
}

func putOf(id string, v int64) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{Item: express.Item{"pk": text("k"), "sk": text(id), "v": number(v)}}}
}

func swapOf(id string, from, to int64) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		Key: key("k", id), UpdateExpression: aws.String("SET v = :to"), ConditionExpression: aws.String("v = :from"),
		ExpressionAttributeValues: express.Item{":from": number(from), ":to": number(to)}, ReturnValuesOnConditionCheckFailure: "ALL_OLD",
	}}
}

func deleteOf(id string) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{Key: key("k", id)}}
}

func checkOf(id, condition string) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{Key: key("k", id), ConditionExpression: &condition}}
}

// otherOf is an action on an item that does not move.
func otherOf(id, condition string) Action {
	p := &types.Put{TableName: aws.String("items"), Item: express.Item{"pk": text("other"), "sk": text(id), "v": number(1)}}
	if condition != "" {
		p.ConditionExpression = &condition
	}
	return Action{Other: types.TransactWriteItem{Put: p}}
}

// codes returns the reasons of a cancelled transaction.
func codes(err error) string {
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return fmt.Sprint(err)
	}
	var all []string
	for _, r := range canceled.CancellationReasons {
		all = append(all, aws.ToString(r.Code))
	}
	return strings.Join(all, " ")
}

// In each phase and for each state of its ids, a transaction does what DynamoDB would do with single items.
func TestTransactions(t *testing.T) {
	type state struct {
		phase    forward.Phase
		old, new string // "5": a live item with that value; "z5": frozen; "s": stub; "d": dead; "": nothing
		value    int64  // of the id, 0 for none
	}
	states := []state{
		{forward.Settled, "5", "", 5},
		{forward.Settled, "", "", 0},
		{forward.Settled, "d", "", 0},
		{forward.Split, "5", "", 5},
		{forward.Split, "", "", 0},
		{forward.Split, "d", "", 0},
		{forward.Split, "z5", "", 5},
		{forward.Split, "z4", "5", 5},
		{forward.Split, "s", "5", 5},
		{forward.Split, "s", "d", 0},
		{forward.Split, "s", "", 0},
		{forward.Closed, "5", "", 5},
		{forward.Closed, "z5", "", 5},
		{forward.Closed, "", "5", 5},
		{forward.Closed, "", "", 0},
		{forward.Settling, "s", "5", 5},
		{forward.Settling, "", "", 0},
		{forward.Settling, "", "d", 0},
		{forward.Back, "5", "", 5},
		{forward.Back, "s", "5", 5},
		{forward.Back, "s", "y5", 5},
		{forward.Back, "s", "y", 0},
		{forward.Back, "", "y", 0},
		{forward.Back, "z5", "", 5},
	}
	actions := map[string]struct {
		in types.TransactWriteItem
		of func(v int64) (int64, bool) // what it makes of a value, and whether it may
	}{
		"put":     {in: putOf("x", 7), of: func(int64) (int64, bool) { return 7, true }},
		"swap":    {in: swapOf("x", 5, 7), of: func(v int64) (int64, bool) { return 7, v == 5 }},
		"swap 4":  {in: swapOf("x", 4, 7), of: func(v int64) (int64, bool) { return 7, false }},
		"delete":  {in: deleteOf("x"), of: func(int64) (int64, bool) { return 0, true }},
		"exists":  {in: checkOf("x", "attribute_exists(pk)"), of: func(v int64) (int64, bool) { return v, v != 0 }},
		"missing": {in: checkOf("x", "attribute_not_exists(pk)"), of: func(v int64) (int64, bool) { return v, v == 0 }},
		"no w":    {in: checkOf("x", "attribute_not_exists(w)"), of: func(v int64) (int64, bool) { return v, true }},
		"create": {
			in: types.TransactWriteItem{Put: &types.Put{Item: express.Item{"pk": text("k"), "sk": text("x"), "v": number(7)}, ConditionExpression: aws.String("attribute_not_exists(pk)")}},
			of: func(v int64) (int64, bool) { return 7, v == 0 },
		},
		"remove": {
			in: types.TransactWriteItem{Update: &types.Update{Key: key("k", "x"), UpdateExpression: aws.String("REMOVE w")}},
			of: func(v int64) (int64, bool) { return v, true },
		},
		"add": {
			in: types.TransactWriteItem{Update: &types.Update{Key: key("k", "x"), UpdateExpression: aws.String("ADD v :n"), ExpressionAttributeValues: express.Item{":n": number(2)}}},
			of: func(v int64) (int64, bool) { return v + 2, true },
		},
	}
	bubble.Test(t, func(t *testing.T) {
		h := newHouse(t, nil)
		store := func(home, id, what string) {
			switch {
			case what == "":
				if _, err := h.client.Direct.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("items"), Key: key(home, id)}); err != nil {
					t.Fatal(err)
				}
			case what == "s":
				h.store(home, id, 0, "s")
			case what == "d":
				item := key(home, id)
				item["_hs_d"] = &types.AttributeValueMemberBOOL{Value: true}
				if _, err := h.client.Direct.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item}); err != nil {
					t.Fatal(err)
				}
			case what == "y":
				h.store(home, id, 0, "y0")
			case what[0] == 'y':
				h.store(home, id, int64(what[1]-'0'), "y1")
			case what[0] == 'z':
				h.store(home, id, int64(what[1]-'0'), "z")
			default:
				h.store(home, id, int64(what[0]-'0'), "")
			}
		}
		value := func(phase forward.Phase, id string) int64 {
			u, err := h.table.Get(&dynamodb.GetItemInput{Key: key("k", id), ConsistentRead: aws.Bool(true)})
			if err != nil {
				t.Fatal(err)
			}
			r, err := h.carrier.Operate(t.Context(), h.place(phase, id), u, forward.OldFirst, false)
			if err != nil {
				t.Fatal(err)
			}
			var n int64
			if v, ok := r.Content["v"].(*types.AttributeValueMemberN); ok {
				_, _ = fmt.Sscan(v.Value, &n)
			}
			return n
		}
		for _, s := range states {
			for name, a := range actions {
				for _, first := range []forward.First{forward.OldFirst, forward.NewFirst, forward.StubFirst} {
					for _, otherHolds := range []bool{true, false} {
						store("a", "x", s.old)
						store("b", "x", s.new)
						store("other", "o", "")
						store("a", "y", "5") // an id that has not moved
						store("b", "y", "")
						y := forward.Split
						other := otherOf("o", "")
						if !otherHolds {
							other = otherOf("o", "attribute_exists(pk)")
						}
						err := h.carrier.Transact(t.Context(), []Action{
							h.action(y, "y", forward.OldFirst, swapOf("y", 5, 6)), other, h.action(s.phase, "x", first, a.in),
						})
						then, may := a.of(s.value)
						want := "<nil>"
						switch {
						case !may && !otherHolds: // either is enough
							want = codes(err)
							if !strings.Contains(want, "ConditionalCheckFailed") {
								t.Errorf("%+v %s, order %d: got %v, want it cancelled", s, name, first, err)
							}
						case !may:
							want = "None None ConditionalCheckFailed"
						case !otherHolds:
							want = "None ConditionalCheckFailed None"
						}
						if got := codes(err); got != want {
							t.Errorf("%+v %s, order %d, the other holds %v: got %s, want %s", s, name, first, otherHolds, got, want)
						}
						done := may && otherHolds
						if !done {
							then = s.value
						}
						if got := value(s.phase, "x"); got != then {
							t.Errorf("%+v %s, order %d: the value is %d, want %d", s, name, first, got, then)
						}
						if got := value(y, "y"); (got == 6) != done {
							t.Errorf("%+v %s, order %d: another id has %d, and done is %v", s, name, first, got, done)
						}
						if got := h.stored("other", "o") != nil; got != done {
							t.Errorf("%+v %s, order %d: the other item is there: %v, want %v", s, name, first, got, done)
						}
					}
				}
			}
		}
	})
}

// A refused transaction has the reasons of DynamoDB, with the item if the user wants it, unmarked.
func TestTransactionReasons(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHouse(t, nil)
		h.store("a", "x", 5, "z")
		err := h.carrier.Transact(t.Context(), []Action{h.action(forward.Split, "x", forward.OldFirst, swapOf("x", 4, 7)), h.action(forward.Split, "y", forward.OldFirst, putOf("y", 1))})
		canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
		if !ok || codes(err) != "ConditionalCheckFailed None" || len(canceled.CancellationReasons[0].Item) != 3 || canceled.CancellationReasons[0].Item["v"] == nil {
			t.Errorf("got %v, %+v, want the first action to be refused with the item", err, canceled)
		}
		h.store("a", "w", 0, "y1") // a mark that no settled home has
		err = h.carrier.Transact(t.Context(), []Action{h.action(forward.Settled, "w", forward.OldFirst, putOf("w", 1)), h.action(forward.Split, "y", forward.OldFirst, putOf("y", 1))})
		if !errors.Is(err, ErrStale) || h.stored("b", "y") != nil {
			t.Errorf("got %v, want ErrStale and nothing written", err)
		}
	})
}

// Lost answers of a transaction are asked for again with its token. Nothing is applied twice, and nothing is called refused that may have
// happened.
func TestLostTransactions(t *testing.T) {
	for name, c := range map[string]struct {
		faults   []faulty.Fault
		slow     time.Duration
		meddle   bool // somebody changes the item before the second attempt
		lost     bool
		stale    bool
		value    string
		attempts int
	}{
		"answer lost":                      {faults: []faulty.Fault{faulty.LostAnswer}, value: "8", attempts: 2},
		"request lost":                     {faults: []faulty.Fault{faulty.LostRequest}, value: "8", attempts: 2},
		"throttled":                        {faults: []faulty.Fault{faulty.Throttled}, value: "8", attempts: 2},
		"conflict":                         {faults: []faulty.Fault{faulty.Conflict, faulty.Conflict}, value: "8", attempts: 3},
		"all answers lost":                 {faults: slices.Repeat([]faulty.Fault{faulty.LostAnswer}, 6), lost: true, value: "8", attempts: 6},
		"lost, and the lease is over":      {faults: []faulty.Fault{faulty.LostAnswer}, slow: 2 * lease.Term, lost: true, value: "8", attempts: 2},
		"throttled, and the lease is over": {faults: []faulty.Fault{faulty.Throttled}, slow: 2 * lease.Term, stale: true, value: "5", attempts: 2},
		"lost and then denied":             {faults: []faulty.Fault{faulty.LostAnswer, faulty.Denied}, lost: true, value: "8", attempts: 2},
		"request lost and then refused":    {faults: []faulty.Fault{faulty.LostRequest}, meddle: true, lost: true, value: "1", attempts: 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				h := newHouse(t, nil)
				h.store("a", "x", 5, "")
				add := types.TransactWriteItem{Update: &types.Update{
					Key: key("k", "x"), UpdateExpression: aws.String("ADD v :n"), ConditionExpression: aws.String("v > :two"),
					ExpressionAttributeValues: express.Item{":n": number(3), ":two": number(2)},
				}}
				actions := []Action{h.action(forward.Split, "x", forward.OldFirst, add), h.action(forward.Settled, "y", forward.OldFirst, putOf("y", 1))}
				script := faulty.Script(c.faults...)
				first := true
				h.client.Decide(func(r faulty.Request) faulty.Fault {
					if c.meddle && !first {
						h.store("a", "x", 1, "")
					}
					first = false
					return script(r)
				})
				h.client.Delay(slow(c.slow))
				err := h.carrier.Transact(t.Context(), actions)
				_, lost := errors.AsType[*LostError](err)
				_, canceled := errors.AsType[*types.TransactionCanceledException](err)
				if lost != c.lost || canceled || errors.Is(err, ErrStale) != c.stale || (err == nil) != (!c.lost && !c.stale) {
					t.Errorf("got %v, want lost %v, stale %v", err, c.lost, c.stale)
				}
				if v, ok := h.stored("a", "x")["v"].(*types.AttributeValueMemberN); !ok || v.Value != c.value {
					t.Errorf("the item is %v, want %s", v, c.value)
				}
				if got := h.client.Count("TransactWriteItems"); got != c.attempts {
					t.Errorf("%d attempts, want %d", got, c.attempts)
				}
			})
		})
	}
}

// Actions that no transaction can have are refused before anything is sent.
func TestTransactionsThatMakeNoSense(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHouse(t, nil)
		get, err := h.table.Get(&dynamodb.GetItemInput{Key: key("k", "x")})
		if err != nil {
			t.Fatal(err)
		}
		x, y := h.action(forward.Split, "x", forward.OldFirst, putOf("x", 1)), h.action(forward.Split, "y", forward.OldFirst, putOf("y", 1))
		inNew := Action{Other: types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String("arn:aws:dynamodb:eu-west-1:1:table/items"), Key: key("b", "x")}}}
		many := make([]Action, 101)
		for i := range many {
			many[i] = h.action(forward.Settled, fmt.Sprint(i), forward.OldFirst, putOf(fmt.Sprint(i), 1))
		}
		for name, c := range map[string]struct {
			actions []Action
			invalid bool
			says    string
		}{
			"the same id twice":         {[]Action{x, y, x}, true, "actions 0 and 2"},
			"the id under a home's key": {[]Action{inNew, x}, true, "actions 0 and 1"},
			"too many":                  {many, true, "101"},
			"none":                      {nil, false, "no action"},
			"only others":               {[]Action{otherOf("o", "")}, false, "no action"},
			"a read":                    {[]Action{{At: x.At, User: get}}, false, "is a read"},
		} {
			err := h.carrier.Transact(t.Context(), c.actions)
			if err == nil || dispatch.Invalid(err) != c.invalid || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: got %v, want invalid %v and %q", name, err, c.invalid, c.says)
			}
		}
		if err := h.carrier.Transact(t.Context(), many[:100]); err != nil {
			t.Errorf("100 actions: %v", err)
		}
		if got := h.client.Count("TransactWriteItems"); got != 1 {
			t.Errorf("%d transactions were sent, want 1", got)
		}
		h.carrier.Client = struct{ Client }{h.client}
		if err := h.carrier.Transact(t.Context(), []Action{x, y}); err == nil || !strings.Contains(err.Error(), "TransactWriteItems") {
			t.Errorf("got %v, want a word about the client", err)
		}
	})
}

// A Delete of an absent id is a check that it is absent. If the id is created meanwhile, it is deleted after all. If it comes and goes all the
// time, the transaction ends with a conflict.
func TestTransactionWhoseItemComesAndGoes(t *testing.T) {
	for _, c := range []struct {
		changes, sent int
		want          string
	}{{0, 2, "<nil>"}, {1, 3, "<nil>"}, {2, 4, "<nil>"}, {100, maxRounds, "TransactionConflict None"}} {
		bubble.Test(t, func(t *testing.T) {
			h := newHouse(t, nil)
			actions := []Action{h.action(forward.Settled, "x", forward.OldFirst, deleteOf("x")), h.action(forward.Settled, "y", forward.OldFirst, putOf("y", 1))}
			sent := 0
			h.client.Decide(func(faulty.Request) faulty.Fault {
				if sent++; sent > 1 && sent <= c.changes+1 {
					if sent%2 == 0 {
						h.store("a", "x", 5, "")
					} else if _, err := h.client.Direct.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String("items"), Key: key("a", "x")}); err != nil {
						t.Error(err)
					}
				}
				return faulty.None
			})
			if got := codes(h.carrier.Transact(t.Context(), actions)); got != c.want || sent != c.sent {
				t.Errorf("%d changes: got %s after %d transactions, want %s after %d", c.changes, got, sent, c.want, c.sent)
			}
			if done := c.want == "<nil>"; done != (h.stored("a", "y") != nil) || done && h.stored("a", "x") != nil {
				t.Errorf("%d changes: the items are %v and %v", c.changes, h.stored("a", "x"), h.stored("a", "y"))
			}
		})
	}
}

// An answer that comes after DynamoDB has forgotten the token may be that of a second transaction.
func TestTransactionWhoseTokenIsForgotten(t *testing.T) {
	for _, c := range []struct {
		late time.Duration
		lost bool
	}{{time.Minute, false}, {11 * time.Minute, true}} {
		bubble.Test(t, func(t *testing.T) {
			h := newHouse(t, nil)
			h.carrier.Client = &slowly{Client: h.client.Client, late: c.late}
			err := h.carrier.Transact(t.Context(), []Action{h.action(forward.Settled, "x", forward.OldFirst, putOf("x", 1))})
			if _, lost := errors.AsType[*LostError](err); lost != c.lost || err != nil != c.lost {
				t.Errorf("%v late: got %v, want lost %v", c.late, err, c.lost)
			}
		})
	}
}

// slowly loses the first answer to a transaction, and is late with the others.
type slowly struct {
	*dynamodb.Client
	late time.Duration
	sent int
}

func (s *slowly) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	out, err := s.Client.TransactWriteItems(ctx, in, o...)
	if s.sent++; s.sent == 1 {
		return nil, errLost
	}
	time.Sleep(s.late)
	return out, err
}

// A transaction over two collections is signed within both leases, in whichever order its actions are.
func TestTransactionWithinTheEarliestLease(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHouse(t, nil)
		x := h.action(forward.Settled, "x", forward.OldFirst, putOf("x", 1))
		time.Sleep(lease.Term + time.Second) // the lease of x is over
		y := h.action(forward.Settled, "y", forward.OldFirst, putOf("y", 1))
		for _, actions := range [][]Action{{x, y}, {y, x}} {
			if err := h.carrier.Transact(t.Context(), actions); !errors.Is(err, ErrStale) {
				t.Errorf("got %v, want ErrStale", err)
			}
		}
	})
}
