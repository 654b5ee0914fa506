package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

// hold locks an item as a write under way does.
func hold(t *testing.T, e *Engine, table, pk string) (release func()) {
	t.Helper()
	key := e.tables[table].itemKey(fields("pk", pk))
	if free, err := e.locks.lock(t.Context(), key, false); !free || err != nil {
		t.Fatalf("lock %s: got %t, %v", pk, free, err)
	}
	return func() { e.locks.unlock(key) }
}

// Whoever waits for something that another holds leaves when its context ends,
// with the context's error, and without having done anything.
func TestWaitsEndWithTheirContext(t *testing.T) {
	item := func(e *Engine, t *testing.T) func() { return hold(t, e, "tab", "a") }
	tableChange := func(e *Engine, t *testing.T) func() {
		tab := e.tables["tab"]
		if err := tab.lock.lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		return tab.lock.unlock
	}
	request := func(e *Engine, t *testing.T) func() {
		tab, err := e.openTable(t.Context(), "tab")
		if err != nil {
			t.Fatal(err)
		}
		return tab.release
	}
	streamWriter := func(e *Engine, t *testing.T) func() {
		s := e.tables["tab"].stream
		if err := s.turns.lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.turns.unlock
	}
	admin := func(e *Engine, t *testing.T) func() {
		if err := e.admin.lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		return e.admin.unlock
	}
	name := new("tab")
	write := func(ctx context.Context, e *Engine) error {
		_, err := e.PutItem(ctx, &PutItemInput{TableName: name, Item: fields("pk", "a", "v", 2), HasItem: true})
		return err
	}
	update := func(ctx context.Context, e *Engine) error {
		in := brokenUpdate()
		_, err := e.UpdateItem(ctx, in)
		return err
	}
	remove := func(ctx context.Context, e *Engine) error {
		_, err := e.DeleteItem(ctx, &DeleteItemInput{TableName: name, Key: fields("pk", "a"), HasKey: true})
		return err
	}
	batch := func(ctx context.Context, e *Engine) error {
		_, err := e.BatchWriteItem(ctx, &BatchWriteItemInput{Tables: []BatchWriteTable{{
			TableName: "tab", Writes: []BatchWrite{{Put: true, Item: fields("pk", "a", "v", 2)}, {Put: true, Item: fields("pk", "b")}},
		}}})
		return err
	}
	transact := func(ctx context.Context, e *Engine) error {
		_, err := e.TransactWriteItems(ctx, withToken(transaction(brokenUpdate()), "token"))
		return err
	}
	get := func(ctx context.Context, e *Engine) error {
		_, err := e.GetItem(ctx, &GetItemInput{TableName: name, Key: fields("pk", "a"), HasKey: true})
		return err
	}
	scan := func(ctx context.Context, e *Engine) error {
		_, err := e.Scan(ctx, &ReadInput{TableName: name})
		return err
	}
	describe := func(ctx context.Context, e *Engine) error {
		_, err := e.DescribeTable(ctx, &TableInput{TableName: name})
		return err
	}
	create := func(ctx context.Context, e *Engine) error {
		_, err := e.CreateTable(ctx, newTableInput("other", "pk:S"))
		return err
	}
	change := func(ctx context.Context, e *Engine) error {
		_, err := e.UpdateTimeToLive(ctx, &UpdateTimeToLiveInput{TableName: name, HasSpec: true, Enabled: new(true), AttributeName: new("ttl")})
		return err
	}
	drop := func(ctx context.Context, e *Engine) error {
		_, err := e.DeleteTable(ctx, &TableInput{TableName: name})
		return err
	}
	records := func(ctx context.Context, e *Engine) error {
		arn := e.tables["tab"].stream.meta.Load().ARN
		_, err := e.GetShardIterator(ctx, &GetShardIteratorInput{
			StreamARN: &arn, ShardID: &e.streams[arn].meta.Load().Shards[0].ID, Type: new("LATEST"),
		})
		return err
	}
	for what, c := range map[string]struct {
		hold func(*Engine, *testing.T) func()
		do   func(context.Context, *Engine) error
	}{
		"put, item":               {item, write},
		"update, item":            {item, update},
		"delete, item":            {item, remove},
		"batch, item":             {item, batch},
		"transaction, item":       {item, transact},
		"put, table":              {tableChange, write},
		"batch, table":            {tableChange, batch},
		"transaction, table":      {tableChange, transact},
		"get, table":              {tableChange, get},
		"scan, table":             {tableChange, scan},
		"describe, table":         {tableChange, describe},
		"put, stream":             {streamWriter, write},
		"batch, stream":           {streamWriter, batch},
		"transaction, stream":     {streamWriter, transact},
		"read of stream, stream":  {streamWriter, records},
		"create, another change":  {admin, create},
		"change, another change":  {admin, change},
		"delete, another change":  {admin, drop},
		"change, request":         {request, change},
		"delete of table, write":  {request, drop},
		"delete of table, stream": {streamWriter, drop},
	} {
		t.Run(what, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				e := openEngine(t, Options{})
				in := newTableInput("tab", "pk:S")
				in.Stream = &StreamSpecification{Enabled: new(true), ViewType: new("KEYS_ONLY")}
				createTable(t, e, in)
				putItem(t, e, "tab", fields("pk", "a", "v", 1))
				release := c.hold(e, t)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := c.do(ctx, e); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, want the context's error", err)
				}
				release()
				if got := brokenValue(t, e); got != 1 {
					t.Errorf("got v = %d after a write that was given up, want 1", got)
				}
				if hasItem(t, e, "tab", fields("pk", "b")) {
					t.Error("half of a batch was written")
				}
				if err := c.do(t.Context(), e); err != nil {
					t.Errorf("the same again: %v", err)
				}
			})
		})
	}
}

// A turn that is granted when its waiter leaves goes to the next.
func TestNoTurnIsLost(t *testing.T) {
	l := newItemLocks()
	key := []byte("item")
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		owners, most := 0, 0
		for range 8 {
			mine := context.Background()
			if random.IntN(2) == 0 {
				mine = ctx
			}
			all.Go(func() {
				free, err := l.lock(mine, key, false)
				if free != (err == nil) {
					t.Errorf("got %t with %v", free, err)
				}
				if !free {
					return
				}
				owners++ // the lock guards them
				most = max(most, owners)
				owners--
				l.unlock(key)
			})
		}
		all.Go(cancel)
		within(t, "one of those who wait", all.Wait)
		if most != 1 {
			t.Fatalf("seed %d: got %d owners at a time, want 1", seed, most)
		}
		for i := range l.stripes {
			if n := len(l.stripes[i].held); n != 0 {
				t.Fatalf("seed %d: %d locks are left", seed, n)
			}
		}
	}
}

// The queue does not grow by those who leave it.
func TestWaitersLeaveTheQueue(t *testing.T) {
	l := newItemLocks()
	key := []byte("item")
	if free, err := l.lock(t.Context(), key, false); !free || err != nil {
		t.Fatal(free, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		if free, err := l.lock(gone, key, false); free || !errors.Is(err, context.Canceled) {
			t.Fatalf("got %t, %v", free, err)
		}
	}
	if n := len(l.stripe(key).held[string(key)].queue); n != 0 {
		t.Errorf("%d waiters are left in the queue", n)
	}
	l.unlock(key)
}

// Requests and changes of a table exclude one another, whoever gives up.
func TestTableLock(t *testing.T) {
	var l tableLock
	var change sync.Mutex // as Engine.admin
	readers, writers := make(chan struct{}, 100), 0
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i := range 8 {
		random := rand.New(rand.NewPCG(uint64(i), 0))
		all.Go(func() {
			for range 500 {
				mine := context.Background()
				if random.IntN(3) == 0 {
					var stop context.CancelFunc
					mine, stop = context.WithTimeout(ctx, time.Duration(random.IntN(50))*time.Microsecond)
					defer stop()
				}
				if i < 6 {
					if l.rlock(mine) != nil {
						continue
					}
					readers <- struct{}{}
					if writers != 0 {
						t.Error("a request runs beside a change")
					}
					<-readers
					l.runlock()
					continue
				}
				change.Lock()
				if l.lock(mine) == nil {
					if writers++; len(readers) != 0 {
						t.Error("a change runs beside a request")
					}
					writers--
					l.unlock()
				}
				change.Unlock()
			}
		})
	}
	within(t, "the lock", all.Wait)
	cancel()
	if l.state.Load() != 0 || l.turn.Load() != nil {
		t.Errorf("got %d, %v at the end, want nothing", l.state.Load(), l.turn.Load())
	}
}

// Close ends when those who wait for locks have got them, or have given up.
func TestCloseEndsWhileRequestsWait(t *testing.T) {
	for name, give := range map[string]func() (context.Context, context.CancelFunc){
		"without contexts": func() (context.Context, context.CancelFunc) { return context.Background(), func() {} },
		"with contexts":    func() (context.Context, context.CancelFunc) { return context.WithCancel(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				e, err := Open(Options{})
				if err != nil {
					t.Fatal(err)
				}
				createTable(t, e, newTableInput("tab", "pk:S"))
				setTTL(t, e, "tab", "ttl", true)
				putItem(t, e, "tab", fields("pk", "a", "ttl", time.Now().Unix()+1))
				release := hold(t, e, "tab", "a")
				time.Sleep(5 * time.Second) // the sweeper waits as well
				ctx, cancel := give()
				var requests sync.WaitGroup
				for range 10 {
					requests.Go(func() {
						_, err := e.PutItem(ctx, &PutItemInput{TableName: new("tab"), Item: fields("pk", "a"), HasItem: true})
						if cancelled := errors.Is(err, context.Canceled); err != nil && !cancelled || cancelled != (ctx.Err() != nil) {
							t.Errorf("got %v", err)
						}
					})
				}
				synctest.Wait()
				closed := make(chan error, 1)
				go func() { closed <- e.Close() }()
				synctest.Wait()
				select {
				case err := <-closed:
					t.Fatalf("Close did not wait for the requests: %v", err)
				default:
				}
				if cancel(); ctx.Err() == nil {
					release()
				} // else nobody waits for it any more
				requests.Wait()
				if err := <-closed; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Who leaves at the moment at which its turn came passes the item on. Otherwise
// nobody could ever write it again.
func TestLeavingWithATurnPassesItOn(t *testing.T) {
	l, key := newItemLocks(), []byte("a")
	if free, err := l.lock(t.Context(), key, false); !free || err != nil {
		t.Fatal(free, err)
	}
	w, conflict := l.enqueue(key, false)
	if conflict || w.turn == nil {
		t.Fatal("it did not queue up")
	}
	l.unlock(key) // which makes it w's turn
	l.leave(key, w)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if free, err := l.lock(ctx, key, false); !free || err != nil {
		t.Errorf("the item stays locked: %t, %v", free, err)
	}
}

// A transaction that waited for an item holds it as one: others are turned away.
func TestTransactionThatWaitedIsOne(t *testing.T) {
	l, key := newItemLocks(), []byte("a")
	if free, err := l.lock(t.Context(), key, false); !free || err != nil {
		t.Fatal(free, err)
	}
	if _, conflict := l.enqueue(key, true); conflict {
		t.Fatal("a conflict with a single write")
	}
	l.unlock(key)
	if !l.inTransaction(key) {
		t.Error("readers do not see that a transaction holds the item")
	}
	if _, conflict := l.enqueue(key, false); !conflict {
		t.Error("a write queues up behind a transaction")
	}
}

// Whoever writes several items locks them in the order of their keys, not in that
// of the request. So it holds nothing yet while it waits for the first, and nobody
// waits in a circle.
func TestItemsAreLockedInTheirOrder(t *testing.T) {
	name := "tab"
	for operation, do := range map[string]func(ctx context.Context, e *Engine, pks []string) error{
		"batch": func(ctx context.Context, e *Engine, pks []string) error {
			in := BatchWriteTable{TableName: name}
			for _, pk := range pks {
				in.Writes = append(in.Writes, BatchWrite{Put: true, Item: fields("pk", pk)})
			}
			_, err := e.BatchWriteItem(ctx, &BatchWriteItemInput{Tables: []BatchWriteTable{in}})
			return err
		},
		"transaction": func(ctx context.Context, e *Engine, pks []string) error {
			in := &TransactWriteItemsInput{HasActions: true}
			for _, pk := range pks {
				in.Actions = append(in.Actions, TransactWrite{Put: &PutItemInput{TableName: &name, Item: fields("pk", pk), HasItem: true}})
			}
			_, err := e.TransactWriteItems(ctx, in)
			return err
		},
	} {
		for _, pks := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}} {
			t.Run(fmt.Sprint(operation, pks), func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					e := openEngine(t, Options{})
					createTable(t, e, newTableInput(name, "pk:S"))
					key := func(pk string) []byte { return e.tables[name].itemKey(fields("pk", pk)) }
					first := slices.MinFunc(pks, func(a, b string) int { return bytes.Compare(key(a), key(b)) })
					release := hold(t, e, name, first)
					done := make(chan error, 1)
					go func() { done <- do(t.Context(), e, pks) }()
					synctest.Wait()
					for _, pk := range pks {
						s := e.locks.stripe(key(pk))
						if s.held[string(key(pk))] != nil && pk != first {
							t.Errorf("%s is locked before %s is", pk, first)
						}
					}
					release()
					if err := <-done; err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// A request that left during an earlier change may tell a later one that it is
// alone. That one looks for itself.
func TestTableLockIsNotTakenOnAWord(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var l tableLock
		if err := l.rlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- l.lock(t.Context()) }()
		synctest.Wait()
		l.turn.Load().alone <- struct{}{}
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("a change runs beside a request: %v", err)
		default:
		}
		l.runlock()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		l.unlock()
	})
}
