package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/store"
)

// bank is a table of accounts with a balance each.
type bank struct{ *Engine }

var accounts = "accounts"

func openBank(t *testing.T, options Options, balances ...int) bank {
	t.Helper()
	b := bank{openEngine(t, options)}
	createTable(t, b.Engine, newTableInput(accounts, "id:S"))
	for i, balance := range balances {
		putItem(t, b.Engine, accounts, fields("id", accountID(i), "balance", balance))
	}
	return b
}

func accountID(i int) string { return fmt.Sprintf("account %d", i) }

// deposit changes a balance, which must not become less than zero.
func deposit(account, amount int) *UpdateItemInput {
	return &UpdateItemInput{
		TableName: &accounts, Key: fields("id", accountID(account)), HasKey: true,
		Expressions: Expressions{
			Update:    new("SET balance = balance + :amount"),
			Condition: new("balance >= :least"),
			Values:    fields(":amount", amount, ":least", -amount), HasValues: true,
		},
	}
}

func transaction(updates ...*UpdateItemInput) *TransactWriteItemsInput {
	in := &TransactWriteItemsInput{HasActions: true}
	for _, u := range updates {
		in.Actions = append(in.Actions, TransactWrite{Update: u})
	}
	return in
}

func withToken(in *TransactWriteItemsInput, token string) *TransactWriteItemsInput {
	in.ClientRequestToken, in.Returns.ConsumedCapacity = &token, "TOTAL"
	return in
}

// balances reads all accounts at one moment.
func (b bank) balances(n int) ([]int64, error) {
	in := &TransactGetItemsInput{HasGets: true}
	for i := range n {
		in.Gets = append(in.Gets, &GetItemInput{TableName: &accounts, Key: fields("id", accountID(i)), HasKey: true})
	}
	out, err := b.TransactGetItems(context.Background(), in)
	if err != nil {
		return nil, err
	}
	list := make([]int64, n)
	for i, raw := range out.Items {
		list[i], _ = raw.Get("balance").Number().Int64()
	}
	return list, nil
}

// balance is that of one account.
func (b bank) balance(t *testing.T, account int) int64 {
	t.Helper()
	out, err := b.GetItem(context.Background(), &GetItemInput{TableName: &accounts, Key: fields("id", accountID(account)), HasKey: true})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := out.Item.Get("balance").Number().Int64()
	return n
}

// conflicted reports whether a request was turned away because a transaction held
// one of its items, which is to be tried again.
func conflicted(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Type == TypeTransactionConflict || e.Type == TypeTransactionCanceled &&
		slices.ContainsFunc(e.Reasons, func(r CancellationReason) bool { return r.Code == "TransactionConflict" })
}

// refused reports whether a condition did not hold.
func refused(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Type == TypeConditionalCheckFailed || e.Type == TypeTransactionCanceled && !conflicted(err) &&
		slices.ContainsFunc(e.Reasons, func(r CancellationReason) bool { return r.Code == "ConditionalCheckFailed" })
}

// retry repeats a request for as long as it conflicts with others.
func retry(request func() error) error {
	for {
		if err := request(); !conflicted(err) {
			return err
		}
	}
}

// Whatever transfers are under way, all accounts together hold the same at every
// moment.
func TestTransfersKeepTheSum(t *testing.T) {
	for name, options := range map[string]Options{"memory": {}, "directory": {Dir: t.TempDir()}} {
		t.Run(name, func(t *testing.T) { transferAndWatch(t, openBank(t, options, 100, 100, 100, 100, 100)) })
	}
}

func transferAndWatch(t *testing.T, b bank) {
	const n, sum, clerks, transfers = 5, 500, 8, 60
	var work, watch sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		watch.Go(func() {
			for more := true; more; {
				select {
				case <-done:
					more = false // but look once more
				default:
				}
				list, err := b.balances(n)
				if conflicted(err) {
					continue
				}
				var total int64
				for _, balance := range list {
					total += balance
				}
				if err != nil || total != sum || slices.Min(list) < 0 {
					t.Errorf("got balances %v and error %v, want a sum of %d", list, err, sum)
					return
				}
			}
		})
	}
	for clerk := range uint64(clerks) {
		work.Go(func() {
			random := rand.New(rand.NewPCG(1, clerk))
			for range transfers {
				order := random.Perm(n)
				amount := 1 + random.IntN(60)
				err := retry(func() error {
					_, err := b.TransactWriteItems(context.Background(), transaction(deposit(order[0], -amount), deposit(order[1], amount)))
					return err
				})
				if err != nil && !refused(err) {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	close(done)
	watch.Wait()
}

// Who reads a balance and writes the next one, on the condition that it is still the
// same, loses no update of others, in a transaction or without.
func TestConditionalIncrementsLoseNothing(t *testing.T) {
	b := openBank(t, Options{}, 0)
	const workers, increments = 8, 40
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for range increments {
				if err := b.increment(worker%2 == 0); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if got := b.balance(t, 0); got != workers*increments {
		t.Errorf("got %d, want %d", got, workers*increments)
	}
}

func (b bank) increment(inTransaction bool) error {
	for {
		var seen []int64
		err := retry(func() (err error) { seen, err = b.balances(1); return err })
		if err != nil {
			return err
		}
		in := &UpdateItemInput{
			TableName: &accounts, Key: fields("id", accountID(0)), HasKey: true,
			Expressions: Expressions{
				Update:    new("SET balance = :next"),
				Condition: new("balance = :seen"),
				Values:    fields(":next", seen[0]+1, ":seen", seen[0]), HasValues: true,
			},
		}
		err = retry(func() (err error) {
			if inTransaction {
				_, err = b.TransactWriteItems(context.Background(), transaction(in))
			} else {
				_, err = b.UpdateItem(context.Background(), in)
			}
			return err
		})
		if !refused(err) {
			return err
		}
	}
}

// While a transaction holds an item, other writes and transactions that want it are
// turned away, and reads see what was there before.
func TestHeldItemTurnsOthersAway(t *testing.T) {
	b := openBank(t, Options{}, 10, 20)
	ctx := context.Background()
	key := b.tables[accounts].itemKey(fields("id", accountID(1)))
	if free, _ := b.locks.lock(ctx, key, true); !free { // as a transaction does
		t.Fatal("the item is held already")
	}
	const ongoing = "Transaction is ongoing for the item"

	_, err := b.UpdateItem(ctx, deposit(1, 1))
	wantError(t, err, TypeTransactionConflict, ongoing)

	_, err = b.TransactWriteItems(ctx, transaction(deposit(0, 1), deposit(1, 1)))
	wantError(t, err, TypeTransactionCanceled,
		"Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict]")
	if !conflicted(err) {
		t.Errorf("got %+v, want a TransactionConflict", err)
	}
	_, err = b.balances(2)
	wantError(t, err, TypeTransactionCanceled,
		"Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict]")

	put := func(i int) BatchWrite {
		return BatchWrite{Item: fields("id", accountID(i), "balance", 99), Put: true}
	}
	out, err := b.BatchWriteItem(ctx, &BatchWriteItemInput{
		Tables: []BatchWriteTable{{TableName: accounts, Writes: []BatchWrite{put(1), put(2)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Unprocessed) != 1 || len(out.Unprocessed[0].Writes) != 1 || !out.Unprocessed[0].Writes[0].Item.Equal(put(1).Item) {
		t.Errorf("got unprocessed %+v, want the put of the item that is held", out.Unprocessed)
	}
	if got := b.balance(t, 1); got != 20 {
		t.Errorf("got a balance of %d while the item is held, want 20", got)
	}

	b.locks.unlock(key)
	if _, err := b.UpdateItem(ctx, deposit(1, 1)); err != nil {
		t.Error(err)
	}
	if got := b.balance(t, 0) + b.balance(t, 1) + b.balance(t, 2); got != 10+21+99 {
		t.Errorf("got a sum of %d, want %d", got, 10+21+99)
	}
}

// A transaction that is sent many times at once with one token is done once.
func TestTokenAtOnce(t *testing.T) {
	b := openBank(t, Options{}, 0, 0)
	for round := range 20 {
		var all sync.WaitGroup
		var mu sync.Mutex
		var written, read int
		for range 8 {
			all.Go(func() {
				out, err := b.send(withToken(transaction(deposit(0, 1), deposit(1, 1)), fmt.Sprint("round ", round)))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				switch c := out.ConsumedCapacity[0]; {
				case c.Write != nil && *c.Write == 4:
					written++
				case c.Read != nil && *c.Read == 4:
					read++
				}
			})
		}
		all.Wait()
		if written != 1 || read != 7 {
			t.Errorf("got %d writes and %d replays, want 1 and 7", written, read)
		}
		if got, _ := b.balances(2); !slices.Equal(got, []int64{int64(round) + 1, int64(round) + 1}) {
			t.Fatalf("got balances %d after round %d", got, round)
		}
	}
}

// send repeats a transaction while one with its token is under way.
func (b bank) send(in *TransactWriteItemsInput) (out *TransactWriteItemsOutput, err error) {
	for {
		out, err = b.TransactWriteItems(context.Background(), in)
		var answer *Error
		if !errors.As(err, &answer) || answer.Type != TypeTransactionInProgress {
			return out, err
		}
	}
}

// A token stands for names as they are, not for a text in which two sets of them look alike.
func TestTokenTellsNamesApart(t *testing.T) {
	b := openBank(t, Options{}, 0)
	send := func(names map[string]string) error {
		action := deposit(0, 1)
		action.Update, action.Condition = new("SET #a = :amount, #b = :least"), nil
		action.Names, action.HasNames = names, true
		return errorOf(b.TransactWriteItems(t.Context(), withToken(transaction(action), "token")))
	}
	noError(t, send(map[string]string{"#a": "p", "#b": "z#bq"}))
	noError(t, send(map[string]string{"#a": "p", "#b": "z#bq"}))
	wantError(t, send(map[string]string{"#a": "p#bz", "#b": "q"}), TypeIdempotentMismatch, otherParameters)
}

const otherParameters = "Provided idempotency token has already been used with different request parameters"

// Whatever an action does otherwise, it is not taken for the one that the token stands for.
func TestTokenTellsRequestsApart(t *testing.T) {
	b := openBank(t, Options{}, 5, 5)
	createTable(t, b.Engine, newTableInput("others", "id:S"))
	put := func(it attr.Item) TransactWrite {
		return TransactWrite{Put: &PutItemInput{TableName: &accounts, Item: it, HasItem: true}}
	}
	on := func(u *UpdateItemInput) *DeleteItemInput {
		return &DeleteItemInput{TableName: u.TableName, Key: u.Key, HasKey: true, Expressions: Expressions{Condition: new("attribute_not_exists(gone)")}}
	}
	changed := func(change func(*UpdateItemInput)) []TransactWrite {
		u := deposit(0, 1)
		change(u)
		return []TransactWrite{{Update: u}}
	}
	update := changed(func(*UpdateItemInput) {})
	for what, c := range map[string]struct{ first, second []TransactWrite }{
		"another table":     {update, changed(func(u *UpdateItemInput) { u.TableName = new("others") })},
		"another item":      {update, changed(func(u *UpdateItemInput) { u.Key = fields("id", accountID(1)) })},
		"another update":    {update, changed(func(u *UpdateItemInput) { u.Update = new("SET balance = balance - :amount") })},
		"another condition": {update, changed(func(u *UpdateItemInput) { u.Condition = new("balance > :least") })},
		"no condition":      {update, changed(func(u *UpdateItemInput) { u.Condition, u.Values = nil, fields(":amount", 1) })},
		"another value":     {update, changed(func(u *UpdateItemInput) { u.Values = fields(":amount", 1, ":least", -2) })},
		"another answer":    {update, changed(func(u *UpdateItemInput) { u.OnConditionFailure = "ALL_OLD" })},
		"one more":          {update, append(changed(func(*UpdateItemInput) {}), TransactWrite{Update: deposit(1, 1)})},
		"another kind":      {[]TransactWrite{{ConditionCheck: on(deposit(0, 1))}}, []TransactWrite{{Delete: on(deposit(0, 1))}}},
		"another put":       {[]TransactWrite{put(fields("id", "a"))}, []TransactWrite{put(fields("id", "a", "v", 1))}},
	} {
		send := func(actions []TransactWrite) error {
			return errorOf(b.TransactWriteItems(t.Context(), withToken(&TransactWriteItemsInput{Actions: actions, HasActions: true}, what)))
		}
		noError(t, send(c.first))
		noError(t, send(c.first))
		if err := send(c.second); err == nil || err.Error() != (&Error{Type: TypeIdempotentMismatch, Message: otherParameters}).Error() {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

// A transaction that is under way is not begun again by its token, until it ends without having been done.
func TestTokenInProgress(t *testing.T) {
	tokens := newTokens(time.Minute)
	begin := func() error { return errorOf(tokens.begin("token", 1)) }
	noError(t, begin())
	wantError(t, begin(), TypeTransactionInProgress, "The transaction with the given request token is already in progress.")
	tokens.end("token")
	noError(t, begin())
}

// Tokens are as durable as what they stand for.
func TestTokensSurviveReopening(t *testing.T) {
	dir := t.TempDir()
	in := func(amount int) *TransactWriteItemsInput {
		return withToken(transaction(deposit(0, amount), deposit(1, -amount)), "payday")
	}
	e, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	b := bank{e}
	createTable(t, e, newTableInput(accounts, "id:S"))
	putItem(t, e, accounts, fields("id", accountID(0), "balance", 0))
	putItem(t, e, accounts, attr.NewItem(append(fields("id", accountID(1), "balance", 50),
		attr.Field{Name: "photo", Value: attr.Binary(string(make([]byte, 5000)))})...))
	if _, err := b.TransactWriteItems(context.Background(), in(5)); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	b = bank{openEngine(t, Options{Dir: dir})}
	if n := len(b.tokens.kept); n != 1 {
		t.Errorf("%d tokens will be deleted when they expire, want 1", n)
	}
	out, err := b.TransactWriteItems(context.Background(), in(5))
	if err != nil {
		t.Fatal(err)
	}
	if c := out.ConsumedCapacity[0]; c.Read == nil || *c.Read != 2+4 || c.Write != nil || c.Units != 6 {
		t.Errorf("got a cost of %+v, want 6 read units: 2 for each 4 KB begun", c)
	}
	if got, _ := b.balances(2); !slices.Equal(got, []int64{5, 45}) {
		t.Errorf("got balances %d, want the transaction done once", got)
	}
	_, err = b.TransactWriteItems(context.Background(), in(6))
	wantError(t, err, TypeIdempotentMismatch, otherParameters)
}

// A token is remembered for ten minutes, and not stored for longer than needed.
func TestTokensExpire(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := openBank(t, Options{}, 0)
		send := func(token string, want int64) {
			t.Helper()
			if _, err := b.TransactWriteItems(context.Background(), withToken(transaction(deposit(0, 1)), token)); err != nil {
				t.Fatal(err)
			}
			if got := b.balance(t, 0); got != want {
				t.Fatalf("got %d, want %d", got, want)
			}
		}
		send("first", 1)
		time.Sleep(10*time.Minute - time.Nanosecond)
		send("first", 1) // which does not prolong it
		time.Sleep(time.Nanosecond)
		send("first", 2)
		send("second", 3)
		time.Sleep(time.Hour)
		send("third", 4)
		stored := 0
		if err := each(b.store.View, store.Tokens(), func(_, _ []byte) error { stored++; return nil }); err != nil {
			t.Fatal(err)
		}
		if stored != 1 {
			t.Errorf("got %d tokens stored, want the last one alone", stored)
		}
	})
}

// How long a token is remembered can be set.
func TestTokenLife(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := openBank(t, Options{TokenLife: time.Second}, 0)
		for i, want := range []int64{1, 1, 2} {
			if _, err := b.TransactWriteItems(t.Context(), withToken(transaction(deposit(0, 1)), "token")); err != nil {
				t.Fatal(err)
			}
			if got := b.balance(t, 0); got != want {
				t.Errorf("got %d after %d transactions, want %d", got, i+1, want)
			}
			time.Sleep(time.Second / 2)
		}
	})
}

// Nothing is remembered of a transaction that did not go through, however many
// there are.
func TestFailedTransactionsAreForgotten(t *testing.T) {
	b := openBank(t, Options{}, 0)
	for i := range 10 {
		if _, err := b.TransactWriteItems(t.Context(), withToken(transaction(deposit(0, -1)), fmt.Sprint(i))); !refused(err) {
			t.Fatalf("got %v, want that the condition does not hold", err)
		}
	}
	if n, busy := len(b.tokens.done), len(b.tokens.busy); n != 0 || busy != 0 {
		t.Errorf("%d tokens are remembered and %d in progress, want none", n, busy)
	}
	if _, err := b.TransactWriteItems(t.Context(), withToken(transaction(deposit(0, 1)), "good")); err != nil {
		t.Fatal(err)
	}
	if n := len(b.tokens.done); n != 1 {
		t.Errorf("%d tokens are remembered, want the one that went through", n)
	}
}

// The size of a transaction is that of the request: large items can be deleted
// and changed a little, but not be put.
func TestTransactionSizeIsTheRequests(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("tab", "pk:S"))
	large := strings.Repeat("x", 100_000)
	all := func(action func(pk string) TransactWrite) error {
		in := &TransactWriteItemsInput{HasActions: true}
		for i := range 50 {
			in.Actions = append(in.Actions, action(fmt.Sprint(i)))
		}
		_, err := e.TransactWriteItems(t.Context(), in)
		return err
	}
	for i := range 50 {
		putItem(t, e, "tab", fields("pk", fmt.Sprint(i), "x", large))
	}
	err := all(func(pk string) TransactWrite {
		return TransactWrite{Put: &PutItemInput{TableName: new("tab"), Item: fields("pk", pk, "x", large), HasItem: true}}
	})
	if err == nil || !strings.Contains(err.Error(), "Transaction payload size cannot exceed 4MB. Payload Size: 5000240") {
		t.Errorf("putting 5 MB: got %v", err)
	}
	if err := all(func(pk string) TransactWrite {
		return TransactWrite{Update: &UpdateItemInput{TableName: new("tab"), Key: fields("pk", pk), HasKey: true, Expressions: Expressions{
			Update: new("SET y = :y"), Values: fields(":y", "small"), HasValues: true,
		}}}
	}); err != nil {
		t.Errorf("changing 5 MB a little: %v", err)
	}
	if err := all(func(pk string) TransactWrite {
		return TransactWrite{Update: &UpdateItemInput{TableName: new("tab"), Key: fields("pk", pk), HasKey: true, Expressions: Expressions{
			Update: new("SET y = :y"), Values: fields(":y", large), HasValues: true,
		}}}
	}); err == nil {
		t.Error("5 MB of new values are accepted")
	}
	if err := all(func(pk string) TransactWrite {
		return TransactWrite{Delete: &DeleteItemInput{TableName: new("tab"), Key: fields("pk", pk), HasKey: true}}
	}); err != nil {
		t.Errorf("deleting 5 MB: %v", err)
	}
}
