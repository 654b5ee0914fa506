package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

// gauge is the real disk, which says that it has as much free as it is told, of
// 800 MB. The store keeps 100 of them.
type gauge struct {
	vfs.FS
	free atomic.Int64
}

func newGauge(free int64) *gauge {
	g := &gauge{FS: vfs.Default}
	g.free.Store(free << 20)
	return g
}

func (g *gauge) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: uint64(g.free.Load()), TotalBytes: 800 << 20}, nil
}

func (g *gauge) Unwrap() vfs.FS { return g.FS }

// openNearlyFull opens an engine with a table of two items on a disk on which
// deletions alone are taken.
func openNearlyFull(t *testing.T, options Options) (*Engine, *gauge) {
	t.Helper()
	options.Dir = t.TempDir()
	e, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	in := newTableInput("tab", "pk:S")
	in.provisioned(100, 10)
	createTable(t, e, in)
	putItem(t, e, "tab", fields("pk", "a", "n", 1))
	putItem(t, e, "tab", fields("pk", "b", "n", 1))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	disk := newGauge(60)
	options.FS = disk
	return openEngine(t, options), disk
}

// growing are the operations that a nearly full disk does not take.
func growing(t *testing.T, e *Engine) map[string]func() error {
	ctx, name := t.Context(), "tab"
	put := &PutItemInput{TableName: &name, Item: fields("pk", "new"), HasItem: true}
	return map[string]func() error{
		"PutItem": func() error { _, err := e.PutItem(ctx, put); return err },
		"UpdateItem": func() error {
			_, err := e.UpdateItem(ctx, &UpdateItemInput{
				TableName: &name, Key: fields("pk", "a"), HasKey: true,
				Expressions: Expressions{Update: new("SET n = :n"), Values: fields(":n", 2), HasValues: true},
			})
			return err
		},
		"BatchWriteItem": func() error {
			_, err := e.BatchWriteItem(ctx, &BatchWriteItemInput{Tables: []BatchWriteTable{{
				TableName: name, Writes: []BatchWrite{{Put: true, Item: fields("pk", "new")}, {Delete: true, Key: fields("pk", "b")}},
			}}})
			return err
		},
		"TransactWriteItems": func() error {
			_, err := e.TransactWriteItems(ctx, &TransactWriteItemsInput{
				ClientRequestToken: new("token"), HasActions: true,
				Actions: []TransactWrite{{Put: put}, {Delete: &DeleteItemInput{TableName: &name, Key: fields("pk", "b"), HasKey: true}}},
			})
			return err
		},
		"CreateTable": func() error { _, err := e.CreateTable(ctx, newTableInput("other", "pk:S")); return err },
		"UpdateTable": func() error {
			_, err := e.UpdateTable(ctx, &UpdateTableInput{TableName: &name, ProvisionedThroughput: units(200, 20)})
			return err
		},
		"UpdateTimeToLive": func() error {
			_, err := e.UpdateTimeToLive(ctx, &UpdateTimeToLiveInput{TableName: &name, HasSpec: true, AttributeName: new("ttl"), Enabled: new(true)})
			return err
		},
	}
}

func TestNearlyFullDiskRefusesWrites(t *testing.T) {
	for _, physics := range []*partition.Options{nil, {}} {
		for name := range growing(t, nil) {
			t.Run(fmt.Sprint(name, " physics ", physics != nil), func(t *testing.T) {
				var observed atomic.Int64
				options := Options{Physics: physics}
				e, disk := openNearlyFull(t, options)
				e.options.Observe = func(*Access) { observed.Add(1) }
				before := *describeTable(t, e, "tab")
				operation := growing(t, e)[name]
				err := operation()
				if answer := ErrorOf(err); answer == nil || answer.Type != TypeUnavailable || !strings.Contains(answer.Message, "60.0 MB free") {
					t.Errorf("got %v, want %s that says how much is free", err, TypeUnavailable)
				}
				if n := observed.Load(); n != 0 {
					t.Errorf("partitions were charged %d times", n)
				}
				after := *describeTable(t, e, "tab")
				if before.ItemCount != after.ItemCount || before.SizeBytes != after.SizeBytes || before.Provisioned.Write != after.Provisioned.Write {
					t.Errorf("the table was %+v and is %+v", before, after)
				}
				for pk, want := range map[string]bool{"a": true, "b": true, "new": false} {
					if got := hasItem(t, e, "tab", fields("pk", pk)); got != want {
						t.Errorf("%s is there: %t, want %t", pk, got, want)
					}
				}
				disk.free.Store(800 << 20)
				if err := operation(); err != nil {
					t.Errorf("with space again: %v", err)
				}
			})
		}
	}
}

func TestNearlyFullDiskTakesDeletions(t *testing.T) {
	e, _ := openNearlyFull(t, Options{Physics: &partition.Options{}})
	deleteItem(t, e, "tab", fields("pk", "a"))
	if hasItem(t, e, "tab", fields("pk", "a")) {
		t.Error("the item is still there")
	}
	deleteTable(t, e, "tab")
}

// A change of a table is refused before it begins: it may do more than can be
// taken back.
func TestNearlyFullDiskRefusesChangesAtOnce(t *testing.T) {
	for _, name := range []string{"UpdateTable", "UpdateTimeToLive"} {
		t.Run(name, func(t *testing.T) {
			var began atomic.Int64
			e, disk := openNearlyFull(t, Options{reached: func(s stage) {
				if s == changed {
					began.Add(1)
				}
			}})
			operation := growing(t, e)[name]
			if err := operation(); !errors.Is(err, store.ErrNoWrites) {
				t.Errorf("got %v, want %v", err, store.ErrNoWrites)
			}
			if n := began.Load(); n != 0 {
				t.Error("the change began")
			}
			disk.free.Store(800 << 20)
			if err := operation(); err != nil || began.Load() != 1 {
				t.Errorf("with space again: %v, begun %d times", err, began.Load())
			}
		})
	}
}

// A deletion from a table with a stream adds a record. So it is refused as a put
// is, and before it is charged.
func TestNearlyFullDiskRefusesDeletionsThatAreRecorded(t *testing.T) {
	options := Options{Dir: t.TempDir(), Physics: &partition.Options{}}
	e, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	in := newTableInput("tab", "pk:S")
	in.Stream = &StreamSpecification{Enabled: new(true), ViewType: new("KEYS_ONLY")}
	createTable(t, e, in)
	putItem(t, e, "tab", fields("pk", "a"))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var observed atomic.Int64
	options.FS, options.Observe = newGauge(60), func(*Access) { observed.Add(1) }
	e = openEngine(t, options)
	_, err = e.DeleteItem(t.Context(), &DeleteItemInput{TableName: new("tab"), Key: fields("pk", "a"), HasKey: true})
	if !errors.Is(err, store.ErrNoWrites) {
		t.Errorf("got %v, want %v", err, store.ErrNoWrites)
	}
	if n := observed.Load(); n != 0 {
		t.Errorf("partitions were charged %d times", n)
	}
	if !hasItem(t, e, "tab", fields("pk", "a")) {
		t.Error("the item is gone")
	}
}

// A table that records what is deleted can be freed of that, be rid of an index, and be deleted, on a disk that takes no other writes.
func TestNearlyFullDiskLetsGoOfTables(t *testing.T) {
	recovery := func(t *testing.T, e *Engine) { setRecovery(t, e, "tab", true) }
	stream := func(t *testing.T, e *Engine) {
		noError(t, errorOf(e.UpdateTable(t.Context(), &UpdateTableInput{
			TableName: new("tab"), Stream: &StreamSpecification{Enabled: new(true), ViewType: new("KEYS_ONLY")},
		})))
	}
	protection := func(t *testing.T, e *Engine) {
		noError(t, errorOf(e.UpdateTable(t.Context(), &UpdateTableInput{TableName: new("tab"), DeletionProtection: new(true)})))
	}
	remove := func(t *testing.T, e *Engine) error {
		return errorOf(e.DeleteItem(t.Context(), &DeleteItemInput{TableName: new("tab"), Key: fields("pk", "a"), HasKey: true}))
	}
	drop := func(t *testing.T, e *Engine) error {
		return errorOf(e.DeleteTable(t.Context(), &TableInput{TableName: new("tab")}))
	}
	update := func(in UpdateTableInput) func(*testing.T, *Engine) error {
		in.TableName = new("tab")
		return func(t *testing.T, e *Engine) error { return errorOf(e.UpdateTable(t.Context(), &in)) }
	}
	turnOff := func(t *testing.T, e *Engine) error {
		return errorOf(e.UpdateContinuousBackups(t.Context(), &UpdateContinuousBackupsInput{TableName: new("tab"), HasSpec: true, Enabled: new(false)}))
	}
	turnOn := func(t *testing.T, e *Engine) error {
		return errorOf(e.UpdateContinuousBackups(t.Context(), &UpdateContinuousBackupsInput{TableName: new("tab"), HasSpec: true, Enabled: new(true)}))
	}
	loseIndex := update(UpdateTableInput{HasIndexUpdates: true, IndexUpdates: []IndexUpdate{{Delete: &IndexInput{IndexName: new("idx")}}}})
	endStream := update(UpdateTableInput{Stream: &StreamSpecification{Enabled: new(false)}})
	unprotect := update(UpdateTableInput{DeletionProtection: new(false)})
	grow := update(UpdateTableInput{TableClass: new("STANDARD_INFREQUENT_ACCESS")})
	type step struct {
		do   func(*testing.T, *Engine) error
		want string // empty: it is done
	}
	const full = "60.0 MB free"
	for name, c := range map[string]struct {
		have  func(*testing.T, *Engine)
		steps []step
	}{
		"an item of a table with recovery": {recovery, []step{
			{remove, "table tab keeps what is deleted, for point-in-time recovery: turn that off, then delete"}, {turnOff, ""}, {remove, ""}, {turnOn, full},
		}},
		"a table with recovery": {recovery, []step{{drop, ""}}},
		"an index":              {recovery, []step{{grow, full}, {loseIndex, ""}}},
		"an item of a table with a stream": {stream, []step{
			{remove, "the stream of table tab records deletions: turn it off, then delete"}, {endStream, ""}, {remove, ""},
		}},
		"a table with a stream": {stream, []step{{drop, ""}}},
		"a protected table":     {protection, []step{{unprotect, ""}, {drop, ""}}},
	} {
		for _, delay := range []time.Duration{0, time.Millisecond} {
			t.Run(fmt.Sprint(name, " delay ", delay), func(t *testing.T) {
				options := Options{Dir: t.TempDir(), Physics: &partition.Options{}}
				e, err := Open(options)
				noError(t, err)
				createTable(t, e, newTableInput("tab", "pk:S").withGlobal("idx", "a:S"))
				putItem(t, e, "tab", fields("pk", "a", "a", "x"))
				c.have(t, e)
				noError(t, e.Close())
				options.FS, options.StatusDelay = newGauge(60), delay
				e = openEngine(t, options)
				for i, s := range c.steps {
					time.Sleep(2 * delay) // what a status delays is over
					err := s.do(t, e)
					if s.want == "" {
						noError(t, err)
					} else if answer := ErrorOf(err); answer == nil || answer.Type != TypeUnavailable || !strings.Contains(answer.Message, s.want) {
						t.Errorf("step %d: got %v, want %s that says %q", i, err, TypeUnavailable, s.want)
					}
				}
				if name == "an index" {
					settle(t, "the index to be gone", func() bool { return len(describeTable(t, e, "tab").GlobalIndexes) == 0 })
				}
			})
		}
	}
}

// Close stores the borders of partitions while the disk has space for upkeep.
// Without, it is no failure: partitions split once more.
func TestCloseOnANearlyFullDisk(t *testing.T) {
	for _, c := range []struct {
		name   string
		free   int64 // MB
		stored bool
	}{
		{"enough for upkeep", 30, true},
		{"not even that", 10, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			options := Options{Dir: t.TempDir(), Physics: &partition.Options{}}
			disk := newGauge(800)
			options.FS = disk
			e, err := Open(options)
			if err != nil {
				t.Fatal(err)
			}
			createTable(t, e, newTableInput("tab", "pk:S"))
			putItem(t, e, "tab", fields("pk", "a"))
			id := e.tables["tab"].record.ID
			disk.free.Store(c.free << 20)
			for e.store.Room(false) == nil { // until the store has looked
				time.Sleep(time.Millisecond)
			}
			if err := e.Close(); err != nil {
				t.Errorf("got %v, want no error", err)
			}
			s, err := store.Open(t.Context(), store.Options{Dir: options.Dir})
			if err != nil {
				t.Fatal(err)
			}
			_, stored, err := s.Get(nil, store.BordersKey(id, store.BaseIndex))
			if err != nil || stored != c.stored {
				t.Errorf("are borders stored: got %t, %v, want %t", stored, err, c.stored)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			options.FS = nil
			if d := describeTable(t, openEngine(t, options), "tab"); d.ItemCount != 1 {
				t.Errorf("the next start counts %d items, want 1", d.ItemCount)
			}
		})
	}
}

// The sweeper meets a disk that takes nothing again and again, and leaves it to
// the store to tell.
func TestSweeperBearsAFullDisk(t *testing.T) {
	var log bytes.Buffer
	dir, name := t.TempDir(), "tab"
	e, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	createTable(t, e, newTableInput(name, "pk:S"))
	if _, err := e.UpdateTimeToLive(t.Context(), &UpdateTimeToLiveInput{TableName: &name, HasSpec: true, AttributeName: new("ttl"), Enabled: new(true)}); err != nil {
		t.Fatal(err)
	}
	putItem(t, e, name, fields("pk", "a", "ttl", time.Now().Unix()+3600))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	disk := newGauge(40)
	e, err = Open(Options{Dir: dir, FS: disk, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(2 * time.Hour)
	for range 100 {
		if _, err := e.sweepTable(t.Context(), e.tables[name], later); !errors.Is(err, store.ErrNoWrites) {
			t.Fatalf("got %v, want %v", err, store.ErrNoWrites)
		}
		e.sweep(t.Context(), later, true)
	}
	if d := describeTable(t, e, name); d.ItemCount != 1 || !hasItem(t, e, name, fields("pk", "a")) {
		t.Errorf("the item is gone, or it is not counted: %d", d.ItemCount)
	}
	disk.free.Store(800 << 20)
	e.sweep(t.Context(), later, true)
	if hasItem(t, e, name, fields("pk", "a")) {
		t.Error("with space again the item is still there")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "\n"); n > 2 {
		t.Errorf("%d lines were logged: %s", n, &log)
	}
}

func TestOpenContextEnds(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	createTable(t, e, newTableInput("tab", "pk:S"))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := OpenContext(ctx, Options{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	describeTable(t, openEngine(t, Options{Dir: dir}), "tab")
}

// Counting takes long if there are many items.
func TestCountingEndsWithItsContext(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("tab", "pk:S"))
	for i := range 10 {
		putItem(t, e, "tab", fields("pk", fmt.Sprint(i)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var u usage
	b := e.store.NewBatch()
	defer b.Discard()
	if err := e.loadCount(ctx, b, &u, e.tables["tab"].record.ID, store.BaseIndex); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if n := u.items.Load(); n > 1 {
		t.Errorf("it counted %d items meanwhile", n)
	}
}
