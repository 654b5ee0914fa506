package engine

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/partition"
)

var errBroken = errors.New("broken off by the test")

// breaker counts the stages that operations reach, and panics at one of them.
type breaker struct {
	mu     sync.Mutex
	stages []string
	at     int // the number of the stage to panic at, from 1; 0: none
}

func (b *breaker) reach(stage string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stages = append(b.stages, stage)
	if len(b.stages) == b.at {
		panic(errBroken)
	}
}

// arm makes the breaker panic at a stage of what comes next.
func (b *breaker) arm(at int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stages, b.at = nil, at
}

// last is the stage that was reached last.
func (b *breaker) last() string { return b.stages[len(b.stages)-1] }

// openBroken opens an engine with a breaker, and with one table that has
// everything a write touches and an item whose v is 1. The caller closes it.
func openBroken(t *testing.T, logger *slog.Logger) (*Engine, *breaker) {
	t.Helper()
	b := &breaker{}
	e, err := Open(Options{
		Physics: &partition.Options{},
		Observe: func(*Access) { b.reach("observed") },
		Dropped: func(string) { b.reach("dropped") },
		Logger:  logger,
		reached: func(s stage) {
			if s != looked { // which comes at any time
				b.reach(string(s))
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	in := newTableInput("tab", "pk:S").withGlobal("idx", "a:S").provisioned(1000, 1000)
	in.Stream = &StreamSpecification{Enabled: new(true), ViewType: new("NEW_AND_OLD_IMAGES")}
	createTable(t, e, in)
	setTTL(t, e, "tab", "ttl", true)
	putItem(t, e, "tab", brokenItem(1))
	return e, b
}

func brokenItem(v int) attr.Item {
	return fields("pk", "a", "a", "x", "v", v, "ttl", time.Now().Unix()+3600)
}

// within fails the test if f does not return. It would not if a lock were left.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s hangs", what)
	}
}

// broken runs an operation that panics, and reports whether it did.
func broken(f func() error) (panicked bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != errBroken {
				panic(p)
			}
			panicked = true
		}
	}()
	return false, f()
}

// brokenWrites are the kinds of writes. Each makes v 2 or deletes the item.
var brokenWrites = map[string]func(*Engine) error{
	"put": func(e *Engine) error {
		_, err := e.PutItem(context.Background(), &PutItemInput{TableName: new("tab"), Item: brokenItem(2), HasItem: true})
		return err
	},
	"update": func(e *Engine) error {
		_, err := e.UpdateItem(context.Background(), brokenUpdate())
		return err
	},
	"delete": func(e *Engine) error {
		_, err := e.DeleteItem(context.Background(), &DeleteItemInput{TableName: new("tab"), Key: fields("pk", "a"), HasKey: true})
		return err
	},
	"batch": func(e *Engine) error {
		_, err := e.BatchWriteItem(context.Background(), &BatchWriteItemInput{Tables: []BatchWriteTable{{
			TableName: "tab", Writes: []BatchWrite{{Put: true, Item: brokenItem(2)}, {Put: true, Item: fields("pk", "b")}},
		}}})
		return err
	},
	"transaction": func(e *Engine) error {
		_, err := e.TransactWriteItems(context.Background(), transaction(brokenUpdate()))
		return err
	},
	"transaction with a token": func(e *Engine) error {
		_, err := e.TransactWriteItems(context.Background(), withToken(transaction(brokenUpdate()), "token"))
		return err
	},
}

func brokenUpdate() *UpdateItemInput {
	return &UpdateItemInput{
		TableName: new("tab"), Key: fields("pk", "a"), HasKey: true,
		Expressions: Expressions{Update: new("SET v = v + :one"), Values: fields(":one", 1), HasValues: true},
	}
}

// brokenValue reads v, 0 if there is no item.
func brokenValue(t *testing.T, e *Engine) (v int64) {
	t.Helper()
	out, err := e.GetItem(t.Context(), &GetItemInput{TableName: new("tab"), Key: fields("pk", "a"), HasKey: true, ConsistentRead: true})
	if err != nil {
		t.Fatal(err)
	}
	if out.Item != nil {
		v, _ = out.Item.Get("v").Number().Int64()
	}
	return v
}

// A write that panics at whatever stage leaves nothing locked, has happened wholly
// or not at all, and can be tried again.
func TestPanicsOfWritesLeaveNothingBehind(t *testing.T) {
	for name, run := range brokenWrites {
		t.Run(name, func(t *testing.T) {
			e, b := openBroken(t, nil)
			b.arm(0)
			if err := run(e); err != nil {
				t.Fatal(err)
			}
			after, stages := brokenValueUnobserved(t, e, b)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			for _, s := range []string{string(locked), string(decided), "observed", string(staged), string(recorded), string(applied)} {
				if !strings.Contains(strings.Join(stages, "\n"), s) {
					t.Errorf("%q is not reached: %q", s, stages)
				}
			}
			for at := range len(stages) {
				breakWrite(t, run, at+1, after)
			}
		})
	}
}

func brokenValueUnobserved(t *testing.T, e *Engine, b *breaker) (v int64, stages []string) {
	t.Helper()
	stages = b.stages
	b.arm(0)
	return brokenValue(t, e), stages
}

// breakWrite breaks a write off at a stage. after is what it makes of v.
func breakWrite(t *testing.T, run func(*Engine) error, at int, after int64) {
	t.Helper()
	e, b := openBroken(t, nil)
	b.arm(at)
	if panicked, err := broken(func() error { return run(e) }); !panicked {
		t.Fatalf("stage %d: no panic, but %v", at, err)
	}
	where := b.last()
	b.arm(0)
	happened := where == string(applied)
	within(t, "a read after a panic when "+where, func() {
		want := int64(1)
		if happened {
			want = after
		}
		if got := brokenValue(t, e); got != want {
			t.Errorf("panic when %s: got v = %d, want %d", where, got, want)
		}
	})
	within(t, "the same write after a panic when "+where, func() {
		if err := run(e); err != nil {
			t.Errorf("the same write after a panic when %s: %v", where, err)
		}
	})
	within(t, "another write after a panic when "+where, func() {
		if err := brokenWrites["put"](e); err != nil {
			t.Errorf("another write after a panic when %s: %v", where, err)
		}
	})
	d := describeTable(t, e, "tab")
	counted := 0
	for range readItems(t, e) {
		counted++
	}
	if int(d.ItemCount) != counted {
		t.Errorf("panic when %s: the table counts %d items and has %d", where, d.ItemCount, counted)
	}
	within(t, "deleting the table after a panic when "+where, func() { deleteTable(t, e, "tab") })
	within(t, "Close after a panic when "+where, func() {
		if err := e.Close(); err != nil {
			t.Errorf("close after a panic when %s: %v", where, err)
		}
	})
}

func readItems(t *testing.T, e *Engine) []attr.Raw {
	t.Helper()
	out, err := e.Scan(t.Context(), &ReadInput{TableName: new("tab")})
	if err != nil {
		t.Fatal(err)
	}
	return out.Items
}

// A transaction that is sent again after a panic is done once, not twice and not
// never.
func TestPanicsOfTransactionsKeepTheirTokens(t *testing.T) {
	run := brokenWrites["transaction with a token"]
	for at := 1; ; at++ {
		e, b := openBroken(t, nil)
		b.arm(at)
		panicked, err := broken(func() error { return run(e) })
		b.arm(0)
		if err != nil {
			t.Fatal(err)
		}
		if err := run(e); err != nil {
			t.Errorf("stage %d: sent again: %v", at, err)
		}
		if got := brokenValue(t, e); got != 2 {
			t.Errorf("stage %d: got v = %d, want 2", at, got)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if !panicked {
			return
		}
	}
}

// A change of a table that panics leaves the table as it was, or changed, and
// nothing locked.
func TestPanicsOfTableChangesLeaveNothingBehind(t *testing.T) {
	name := new("tab")
	for what, run := range map[string]func(*Engine) error{
		"create": func(e *Engine) error {
			_, err := e.CreateTable(context.Background(), newTableInput("other", "pk:S").provisioned(10, 10))
			if existing := (*Error)(nil); errors.As(err, &existing) && existing.Type == TypeResourceInUse {
				return nil
			}
			return err
		},
		"update": func(e *Engine) error {
			_, err := e.UpdateTable(context.Background(), &UpdateTableInput{TableName: name, ProvisionedThroughput: units(2000, 2000)})
			return err
		},
		"time to live": func(e *Engine) error {
			_, err := e.UpdateTimeToLive(context.Background(), &UpdateTimeToLiveInput{
				TableName: name, HasSpec: true, Enabled: new(false), AttributeName: new("ttl"),
			})
			return err
		},
		"delete": func(e *Engine) error {
			_, err := e.DeleteTable(context.Background(), &TableInput{TableName: name})
			if missing := (*Error)(nil); errors.As(err, &missing) && missing.Type == TypeResourceNotFound {
				return nil
			}
			return err
		},
		"read":  func(e *Engine) error { return scanBroken(e) },
		"query": func(e *Engine) error { return queryBroken(e) },
	} {
		t.Run(what, func(t *testing.T) {
			for at := 1; ; at++ {
				e, b := openBroken(t, nil)
				quota := e.account.Provisioned()
				b.arm(at)
				panicked, err := broken(func() error { return run(e) })
				b.arm(0)
				if err != nil {
					t.Fatal(err)
				}
				if !panicked && at == 1 {
					t.Fatal("no stage was reached")
				}
				if what == "update" && panicked && e.account.Provisioned() != quota {
					t.Errorf("stage %d: got %+v provisioned, want %+v", at, e.account.Provisioned(), quota)
				}
				within(t, "the same again", func() {
					if err := run(e); err != nil && panicked {
						t.Errorf("stage %d: the same again: %v", at, err)
					}
				})
				within(t, "a table of the same name", func() {
					if what == "delete" {
						createTable(t, e, newTableInput("tab", "pk:S"))
					}
					putItem(t, e, "tab", fields("pk", "a"))
					deleteTable(t, e, "tab")
				})
				within(t, "Close", func() {
					if err := e.Close(); err != nil {
						t.Error(err)
					}
				})
				if !panicked {
					return
				}
			}
		})
	}
}

func scanBroken(e *Engine) error {
	_, err := e.Scan(context.Background(), &ReadInput{TableName: new("tab")})
	return err
}

func queryBroken(e *Engine) error {
	_, err := e.Query(context.Background(), &ReadInput{
		TableName: new("tab"), IndexName: new("idx"),
		Expressions: Expressions{KeyCondition: new("a = :x"), Values: fields(":x", "x"), HasValues: true},
	})
	return err
}

// A panic of the sweeper is logged, and it goes on.
func TestPanicsOfTheSweeperAreLogged(t *testing.T) {
	var log strings.Builder
	e, b := openBroken(t, slog.New(slog.NewTextHandler(&log, nil)))
	e.sweeper.close() // the test sweeps
	later := time.Now().Add(2 * time.Hour)
	for at := 1; hasItem(t, e, "tab", fields("pk", "a")); at++ {
		log.Reset()
		b.arm(at)
		due, _ := e.sweep(t.Context(), later, true)
		b.arm(0)
		if at == 1 && (due != later.Add(sweepRetry).Unix() || !strings.Contains(log.String(), errBroken.Error())) {
			t.Errorf("got a look at %d and the log %q", due, log.String())
		}
		if at > 100 {
			t.Fatal("the item is never deleted")
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
