package carry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/forward"
	"github.com/heatsink-go/heatsink/internal/forward/express"
	"github.com/heatsink-go/heatsink/internal/lease"
)

// accounts is how many ids have a value. The values add up to 0 all the time. An id without an item has the value 0.
const accounts = 3

// trade is a Get of the account from, or a transaction that moves an amount between two accounts.
type trade struct {
	get      bool
	adds     bool // without conditions
	from, to int
	amount   int64
	third    bool            // the transaction checks the third account, too
	seen     [accounts]int64 // what the conditions compare
}

// trades is the model of all accounts together.
var trades = porcupine.Model{
	Init: func() any { return [accounts]int64{} },
	Step: func(state, input, output any) (bool, any) {
		now, in, out := state.([accounts]int64), input.(trade), output.(outcome)
		if in.get {
			return out.unknown || out.value == now[in.from], now
		}
		holds := in.adds || now[in.from] == in.seen[in.from] && now[in.to] == in.seen[in.to]
		if third := accounts - in.from - in.to; in.third && now[third] != in.seen[third] {
			holds = false
		}
		if !holds {
			return out.unknown || out.refused, now
		}
		now[in.from] -= in.amount
		now[in.to] += in.amount
		return out.unknown || !out.refused, now
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// actions returns the actions of a trade, each of another kind as its account needs it.
func (x *town) actions(in trade) (all []types.TransactWriteItem, ids []string) {
	for i := range accounts {
		id := key("key", fmt.Sprint("id", i))
		seen, change := in.seen[i], int64(0)
		switch i {
		case in.from:
			change = -in.amount
		case in.to:
			change = in.amount
		default:
			if !in.third {
				continue
			}
		}
		condition, values := aws.String("v = :seen"), express.Item{":seen": number(seen)}
		if seen == 0 {
			condition = aws.String("attribute_not_exists(v) OR v = :seen")
		}
		a := types.TransactWriteItem{}
		switch then := seen + change; {
		case change == 0 && seen == 0 && x.draw(2) == 0:
			a.Delete = &types.Delete{Key: id, ConditionExpression: condition, ExpressionAttributeValues: values}
		case change == 0:
			a.ConditionCheck = &types.ConditionCheck{Key: id, ConditionExpression: condition, ExpressionAttributeValues: values}
		case in.adds:
			a.Update = &types.Update{Key: id, UpdateExpression: aws.String("ADD v :n"), ExpressionAttributeValues: express.Item{":n": number(change)}}
		case then == 0:
			a.Delete = &types.Delete{Key: id, ConditionExpression: condition, ExpressionAttributeValues: values}
		case x.draw(2) == 0:
			item := express.Item{"v": number(then)}
			maps.Copy(item, id)
			a.Put = &types.Put{Item: item, ConditionExpression: condition, ExpressionAttributeValues: values}
		default:
			values[":then"] = number(then)
			a.Update = &types.Update{Key: id, UpdateExpression: aws.String("SET v = :then"), ConditionExpression: condition, ExpressionAttributeValues: values}
		}
		all, ids = append(all, a), append(ids, fmt.Sprint("id", i))
	}
	return all, ids
}

// transact runs a trade once, by what a process knows.
func (x *town) transact(ctx context.Context, c *Carrier, l ledger, in []types.TransactWriteItem, ids []string) error {
	actions := make([]Action, len(in))
	for i := range in {
		u, err := x.table.Part(in[i])
		if err != nil {
			x.t.Error(err)
			return err
		}
		actions[i] = Action{At: x.place(l, ids[i]), User: u, First: forward.First(x.draw(3))}
	}
	return c.Transact(ctx, actions)
}

// valueOf runs a Get of an account.
func (x *town) valueOf(ctx context.Context, c *Carrier, l ledger, id string) (int64, error) {
	u, err := x.table.Get(&dynamodb.GetItemInput{Key: key("key", id)})
	if err != nil {
		return 0, err
	}
	r, err := c.Operate(ctx, x.place(l, id), u, forward.First(x.draw(2)), false)
	if v, ok := r.Content["v"].(*types.AttributeValueMemberN); ok {
		n, err := strconv.ParseInt(v.Value, 10, 64)
		return n, err
	}
	return 0, err
}

// mostStale is how often an operation may be stale, in a test.
const mostStale = 200

var errStuck = errors.New("stale all the time")

// fresh runs what needs a ledger, with a newer one for as long as it is stale.
func (x *town) fresh(known *ledger, run func(ledger) error) error {
	for range mostStale {
		if known.lease.Over(time.Now()) && x.draw(2) == 0 { // else the signature tells
			*known = x.read()
		}
		if err := run(*known); !errors.Is(err, ErrStale) {
			return err
		}
		*known = x.read()
	}
	return errStuck
}

// deal is a process that trades until a time. Now and then it sleeps for long, or is killed.
func (x *town) deal(process int, until time.Time) {
	c := x.carrier()
	known := x.read()
	var seen [accounts]int64
	for time.Now().Before(until) {
		time.Sleep(time.Duration(1+x.draw(120_000)) * time.Millisecond)
		if x.draw(40) == 0 {
			time.Sleep(time.Duration(x.draw(120)) * time.Minute)
		}
		ctx, cancel := context.Background(), func() {}
		if x.draw(20) == 0 {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(x.draw(50))*time.Millisecond)
		}
		from := x.draw(accounts)
		in := trade{from: from, to: (from + 1 + x.draw(accounts-1)) % accounts, amount: int64(1 + x.draw(5)), third: x.draw(2) == 0}
		switch x.draw(8) {
		case 0, 1, 2, 3:
			in = trade{get: true, from: from}
		case 4:
			in.adds, in.third = true, false
		case 5:
			if in.amount = seen[from]; in.amount == 0 { // so that an account is empty again
				in.amount = 1
			}
		}
		in.seen = seen
		actions, ids := x.actions(in)
		began := time.Now()
		var o outcome
		err := x.fresh(&known, func(l ledger) (err error) {
			if in.get {
				o.value, err = x.valueOf(ctx, c, l, fmt.Sprint("id", from))
				return err
			}
			return x.transact(ctx, c, l, actions, ids)
		})
		killed := ctx.Err() != nil
		cancel()
		_, lost := errors.AsType[*LostError](err)
		_, canceled := errors.AsType[*types.TransactionCanceledException](err)
		switch {
		case err == nil && in.get:
			seen[from] = o.value
		case err == nil:
		case canceled && strings.Contains(err.Error(), codeFailed):
			o.refused = true
		case lost || killed || errors.Is(err, errLost) || strings.Contains(err.Error(), "Signature expired"):
			o.unknown = true
		default:
			x.t.Errorf("%+v: %v", in, err)
			return
		}
		x.noteTrade(process, in, o, began)
	}
}

// noteTrade adds a trade to the history, see note.
func (x *town) noteTrade(process int, in trade, o outcome, began time.Time) {
	ended := time.Now()
	if o.unknown {
		if in.get {
			return
		}
		ended = ended.Add(1000 * time.Hour)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.history["all"] = append(x.history["all"], porcupine.Operation{ClientId: process, Input: in, Output: o, Call: began.UnixNano(), Return: ended.UnixNano()})
	switch {
	case in.get:
	case o.unknown:
		x.counts[0]++
	case o.refused:
		x.counts[1]++
	default:
		x.counts[2]++
	}
}

// Transactions over several ids, while these move there and back, are all or nothing: the sum stays, and some order of all transactions and
// reads explains all answers.
func TestTradesDuringMoves(t *testing.T) {
	stages := map[forward.Stage]bool{}
	var counts [3]int
	for seed := range uint64(4) {
		bubble.Test(t, func(t *testing.T) {
			x := newTown(t, seed)
			x.wait = lease.Wait
			x.undo.Store(seed%2 == 1)
			until := time.Now().Add(12 * time.Hour)
			var all sync.WaitGroup
			for process := range 4 {
				all.Go(func() { x.deal(process+1, until) })
			}
			for range 2 {
				all.Go(func() { x.move(until) })
			}
			all.Wait()
			if t.Failed() {
				return
			}
			sum, known := int64(0), x.read()
			for i := range accounts {
				var v int64
				err := errLost
				for range mostStale { // a request may be too late, or lose its answer
					if err == nil {
						break
					}
					err = x.fresh(&known, func(l ledger) (err error) {
						v, err = x.valueOf(t.Context(), x.carrier(), l, fmt.Sprint("id", i))
						return err
					})
				}
				if err != nil {
					t.Error(err)
				}
				sum += v
			}
			if sum != 0 {
				t.Errorf("seed %d: the values add up to %d, want 0", seed, sum)
			}
			if got := porcupine.CheckOperationsTimeout(trades, x.history["all"], 30*time.Second); got != porcupine.Ok {
				t.Errorf("seed %d: no order explains all answers: %v", seed, got)
			}
			maps.Copy(stages, x.stages)
			for i := range counts {
				counts[i] += x.counts[i]
			}
		})
	}
	if len(stages) < 7 || counts[0] < 20 || counts[1] < 200 || counts[2] < 200 {
		t.Errorf("%d stages %v; %v transactions of unknown outcome, refused and done: too few to mean anything", len(stages), stages, counts)
	}
	t.Logf("%v transactions of unknown outcome, refused and done", counts)
}
