package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

func setTTL(t *testing.T, e *Engine, table, attribute string, enabled bool) {
	t.Helper()
	in := &UpdateTimeToLiveInput{TableName: &table, HasSpec: true, Enabled: &enabled, AttributeName: &attribute}
	out, err := e.UpdateTimeToLive(t.Context(), in)
	if err != nil {
		t.Fatalf("set TTL of %s: %v", table, err)
	}
	if out.Enabled != enabled || out.AttributeName != attribute {
		t.Errorf("got %+v", out)
	}
}

// ttlEntries counts what the ttlIndex holds.
func ttlEntries(t *testing.T, e *Engine, table string) (n int) {
	t.Helper()
	r := store.Index(e.tables[table].record.ID, ttlIndex)
	if err := each(e.store.View, r, func(_, _ []byte) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTimeToLiveIsSetOnce(t *testing.T) {
	e := openEngine(t, Options{})
	name := "tab"
	createTable(t, e, newTableInput(name, "pk:S"))
	describe := func() TimeToLive {
		out, err := e.DescribeTimeToLive(t.Context(), &TableInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		return *out
	}
	update := func(attribute string, enabled bool) error {
		_, err := e.UpdateTimeToLive(t.Context(), &UpdateTimeToLiveInput{TableName: &name, HasSpec: true, Enabled: &enabled, AttributeName: &attribute})
		return err
	}
	if got, want := describe(), (TimeToLive{Status: "DISABLED"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	wantError(t, update("ttl", false), TypeValidation, "TimeToLive is already disabled")
	wantError(t, update("", true), TypeValidation, "1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must have length greater than or equal to 1")
	setTTL(t, e, name, "ttl", true)
	if got, want := describe(), (TimeToLive{Enabled: true, Status: "ENABLED", AttributeName: "ttl"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	wantError(t, update("ttl", true), TypeValidation, "TimeToLive is already enabled")
	wantError(t, update("other", true), TypeValidation, "TimeToLive is active on a different AttributeName: current AttributeName is ttl")
	wantError(t, update("other", false), TypeValidation, "TimeToLive is active on a different AttributeName: current AttributeName is ttl")
	setTTL(t, e, name, "ttl", false)

	_, err := e.UpdateTimeToLive(t.Context(), &UpdateTimeToLiveInput{TableName: &name, HasSpec: true})
	wantError(t, err, TypeValidation, "2 validation errors detected: Value null at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must not be null; "+
		"Value null at 'timeToLiveSpecification.enabled' failed to satisfy constraint: Member must not be null")
	_, err = e.DescribeTimeToLive(t.Context(), &TableInput{TableName: new("ghost")})
	wantError(t, err, TypeResourceNotFound, "Requested resource not found: Table: ghost not found")
}

func TestExpiredItemsAreDeleted(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{})
		name := "tab"
		in := newTableInput(name, "pk:S").withGlobal("idx", "a:S")
		in.Stream = &StreamSpecification{Enabled: new(true), ViewType: new("OLD_IMAGE")}
		createTable(t, e, in)
		now := time.Now().Unix()
		put := func(pk string, more ...any) {
			putItem(t, e, name, fields(append([]any{"pk", pk, "a", "x"}, more...)...))
		}
		put("before", "ttl", now-60) // when there is no TTL yet
		put("later", "ttl", now+3600)
		put("none")
		put("text", "ttl", "soon")
		put("ancient", "ttl", time.Now().AddDate(-5, 0, -1).Unix())
		put("old", "ttl", time.Now().AddDate(-5, 0, 1).Unix())
		setTTL(t, e, name, "ttl", true)
		put("after", "ttl", now-1)
		put("moved", "ttl", now+30)
		put("moved", "ttl", now+7200)

		alive := func() (list string) {
			for _, pk := range []string{"before", "later", "none", "text", "ancient", "old", "after", "moved"} {
				if hasItem(t, e, name, fields("pk", pk)) {
					list += pk + " "
				}
			}
			return list
		}
		time.Sleep(2 * time.Second)
		if got, want := alive(), "later none text ancient moved "; got != want {
			t.Errorf("after two seconds: got %q, want %q", got, want)
		}
		time.Sleep(time.Hour)
		if got, want := alive(), "none text ancient moved "; got != want {
			t.Errorf("after an hour: got %q, want %q", got, want)
		}
		if d := describeTable(t, e, name); d.ItemCount != 4 || d.GlobalIndexes[0].ItemCount != 4 {
			t.Errorf("got %d items and %d in the index, want 4", d.ItemCount, d.GlobalIndexes[0].ItemCount)
		}
		records := readStream(t, e, describeTable(t, e, name).LatestStreamARN)
		removed := 0
		for _, r := range records {
			if r.EventName == "REMOVE" {
				removed++
				if !r.Expired || r.OldImage == nil {
					t.Errorf("removal by TTL is recorded as %+v", r)
				}
			} else if r.Expired {
				t.Errorf("recorded as expired: %+v", r)
			}
		}
		if removed != 4 {
			t.Errorf("got %d removals in the stream, want 4", removed)
		}
		setTTL(t, e, name, "ttl", false)
		if n := ttlEntries(t, e, name); n != 0 {
			t.Errorf("got %d TTL entries of a table without TTL", n)
		}
		time.Sleep(2 * time.Hour)
		if got, want := alive(), "none text ancient moved "; got != want {
			t.Errorf("without TTL: got %q, want %q", got, want)
		}
	})
}

func TestTimeToLiveTakesInManyItems(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{TTLInterval: time.Minute})
		const items = 2*ttlBatch + 500
		name := "tab"
		createTable(t, e, newTableInput(name, "pk:S"))
		for i := range items {
			putItem(t, e, name, fields("pk", fmt.Sprint(i), "ttl", time.Now().Unix()+10))
		}
		setTTL(t, e, name, "ttl", true)
		if n := ttlEntries(t, e, name); n != items {
			t.Errorf("got %d TTL entries, want %d", n, items)
		}
		time.Sleep(30 * time.Second)
		if got := describeTable(t, e, name).ItemCount; got != items {
			t.Errorf("got %d items before the sweep, want %d", got, items)
		}
		time.Sleep(time.Minute)
		if got := describeTable(t, e, name).ItemCount; got != 0 {
			t.Errorf("got %d items after the sweep, want none", got)
		}
		if n := ttlEntries(t, e, name); n != 0 {
			t.Errorf("got %d TTL entries after the sweep, want none", n)
		}
	})
}

func TestTimeToLiveSurvivesReopening(t *testing.T) {
	dir := t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		name := "tab"
		e, err := Open(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		createTable(t, e, newTableInput(name, "pk:S"))
		setTTL(t, e, name, "ttl", true)
		putItem(t, e, name, fields("pk", "a", "ttl", time.Now().Unix()+100))
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		e, err = Open(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		synctest.Wait() // it sweeps as soon as it is open
		if hasItem(t, e, name, fields("pk", "a")) {
			t.Error("an item that expired while the engine was closed is still there")
		}
	})
}

// TestNothingRunsWithoutWork would hang if a goroutine were left: a bubble ends
// when all its goroutines have.
func TestNothingRunsWithoutWork(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{})
		running := func() bool {
			synctest.Wait()
			e.sweeper.mu.Lock()
			defer e.sweeper.mu.Unlock()
			return e.sweeper.running
		}
		createTable(t, e, newTableInput("tab", "pk:S"))
		if running() {
			t.Error("the sweeper runs for a table without TTL and stream")
		}
		setTTL(t, e, "tab", "ttl", true)
		putItem(t, e, "tab", fields("pk", "text", "ttl", "soon"))
		putItem(t, e, "tab", fields("pk", "zero", "ttl", 0))
		putItem(t, e, "tab", fields("pk", "negative", "ttl", -1))
		putItem(t, e, "tab", fields("pk", "ancient", "ttl", time.Now().AddDate(-5, 0, -1).Unix()))
		if running() {
			t.Error("the sweeper runs for a table without an item that will expire")
		}
		putItem(t, e, "tab", fields("pk", "later", "ttl", time.Now().Unix()+3600))
		if !running() {
			t.Error("the sweeper does not run for an item that will expire")
		}
		setTTL(t, e, "tab", "ttl", false)
		if running() {
			t.Error("the sweeper runs on after the TTL")
		}
		setTTL(t, e, "tab", "ttl", true)
		if !running() {
			t.Error("the sweeper does not run for an item that was there before the TTL")
		}
		time.Sleep(2 * time.Hour)
		if running() {
			t.Error("the sweeper runs on after the last item that would expire")
		}
		putItem(t, e, "tab", fields("pk", "later", "ttl", time.Now().Unix()+3600))
		deleteTable(t, e, "tab")
		time.Sleep(2 * maxSleep)
		if running() {
			t.Error("the sweeper runs on after the table")
		}
	})
}

func TestExpired(t *testing.T) {
	now := time.Date(2026, 11, 15, 1, 2, 3, 500, time.UTC)
	at := now.Unix()
	tab := &table{ttl: "ttl"}
	half := func(n int64) attr.Item {
		v, err := attr.ParseNumber(fmt.Sprintf("%d.5", n))
		if err != nil {
			t.Fatal(err)
		}
		return attr.NewItem(attr.Field{Name: "ttl", Value: attr.Num(v)})
	}
	for name, c := range map[string]struct {
		item attr.Item
		want bool
	}{
		"now":        {fields("ttl", at), true},
		"past":       {fields("ttl", at-1), true},
		"future":     {fields("ttl", at+1), false},
		"five years": {fields("ttl", now.AddDate(-5, 0, 0).Unix()), true},
		"longer ago": {fields("ttl", now.AddDate(-5, 0, 0).Unix()-1), false},
		"negative":   {fields("ttl", -1), false},
		"text":       {fields("ttl", "1"), false},
		"missing":    {fields("pk", "1"), false},
		"fraction":   {half(at - 1), true},
		"half later": {half(at), false},
	} {
		if got := tab.expired(c.item, now); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}

// endingWhen is a context that has ended when a condition holds.
type endingWhen struct {
	context.Context
	ended func() bool
}

func (c endingWhen) Err() error {
	if c.ended() {
		return context.Canceled
	}
	return nil
}

// Indexing a large table ends with its request. What it left behind is nothing to
// the next attempt, which may be for another attribute.
func TestIndexingCutShortLeavesNothing(t *testing.T) {
	e := openEngine(t, Options{})
	name := "tab"
	createTable(t, e, newTableInput(name, "pk:S"))
	for i := range 2 * ttlBatch {
		putItem(t, e, name, fields("pk", fmt.Sprint(i), "ttl", time.Now().Unix()+3600))
	}
	ctx := endingWhen{t.Context(), func() bool { return ttlEntries(t, e, name) > 0 }}
	_, err := e.UpdateTimeToLive(ctx, &UpdateTimeToLiveInput{TableName: &name, HasSpec: true, AttributeName: new("ttl"), Enabled: new(true)})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want %v", err, context.Canceled)
	}
	if n := ttlEntries(t, e, name); n != ttlBatch {
		t.Fatalf("%d entries were stored until then, want %d", n, ttlBatch)
	}
	setTTL(t, e, name, "other", true)
	if n := ttlEntries(t, e, name); n != 0 {
		t.Errorf("%d entries are left of an attempt for another attribute", n)
	}
}

// A sweep that comes late leaves a table of a closed engine alone.
func TestSweepAfterClose(t *testing.T) {
	e, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	createTable(t, e, newTableInput("tab", "pk:S"))
	setTTL(t, e, "tab", "ttl", true)
	putItem(t, e, "tab", fields("pk", "a", "ttl", time.Now().Unix()+3600))
	tab := e.tables["tab"]
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if due, err := e.sweepTable(t.Context(), tab, time.Now().Add(2*time.Hour)); due != noExpiry || err != nil {
		t.Errorf("got %d, %v, want that nothing expires", due, err)
	}
}

// Items that expire leave their partitions, which would split for want of space
// otherwise.
func TestExpiryMakesPartitionsSmaller(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{Physics: &partition.Options{}})
		createTable(t, e, newTableInput("tab", "pk:S").withGlobal("byG", "g:S"))
		setTTL(t, e, "tab", "ttl", true)
		for i := range 10 {
			putItem(t, e, "tab", fields("pk", fmt.Sprint(i), "g", "all", "ttl", time.Now().Unix()+10))
		}
		size := func() (bytes [2]int64) { // of the table and of its index
			list, err := e.Heat(t.Context(), "tab", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			for i := range bytes {
				for _, p := range list[i].Partitions {
					bytes[i] += p.Bytes
				}
			}
			return bytes
		}
		if before := size(); before[0] == 0 || before[1] == 0 {
			t.Fatal("partitions are empty to begin with")
		}
		time.Sleep(time.Minute)
		if after := size(); after != [2]int64{} {
			t.Errorf("the partitions have %d bytes though all items are gone", after)
		}
	})
}
