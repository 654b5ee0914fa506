package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/store"
)

// A restored table is what the table was: when it was backed up, or at any time that
// point-in-time recovery goes back to.
func TestRestoresAreExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// rapid ends runs by panics, in its own goroutine.
		var ended any
		bubble.Test(t, func(t *testing.T) {
			defer func() { ended = recover() }()
			checkRestores(t, rt)
		})
		if ended != nil {
			panic(ended)
		}
	})
}

// pastTable is what the table tab was from a time on.
type pastTable struct {
	at    time.Time
	items map[string]string
}

// annals is a table with all that it has been.
type annals struct {
	*Engine
	t       *testing.T
	rt      *rapid.T
	random  *rand.Rand
	past    []pastTable
	backups map[string]map[string]string // what the table was, by ARN
	since   time.Time                    // when recovery was turned on; zero: it is off
	days    int64
	gone    time.Time // what was before may be trimmed: the period was shorter once
	tables  int
}

func checkRestores(t *testing.T, rt *rapid.T) {
	e, err := Open(Options{})
	noError(rt, err)
	defer func() { // also of a run that fails, or its goroutines would outlive it
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx := context.Background()
	_, err = e.CreateTable(ctx, newTableInput("tab", "pk:S sk:N").withGlobal("old", "o:S").withGlobal("idx", "a:S b:N"))
	noError(rt, err)
	a := &annals{
		Engine: e, t: t, rt: rt, backups: map[string]map[string]string{},
		random: rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0)),
	}
	a.note()
	for range rapid.IntRange(1, 30).Draw(rt, "steps") {
		switch rapid.IntRange(0, 9).Draw(rt, "step") {
		case 0, 1, 2:
			for range a.random.IntN(20) {
				randomWrite(ctx, e, a.random, true)
			}
			a.note()
		case 3, 4:
			longest := rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 40 * time.Hour}).Draw(rt, "sleep")
			time.Sleep(time.Duration(a.random.Int64N(int64(longest))))
		case 5:
			a.turn(ctx)
		case 6:
			b, err := e.CreateBackup(ctx, &CreateBackupInput{TableName: new("tab"), BackupName: new("kept")})
			noError(rt, err)
			a.backups[b.ARN] = stored(t, e, "tab", "")
		case 7:
			for arn, want := range a.backups {
				name := a.name()
				noError(rt, restoreBackup(e, arn, name))
				a.compare(ctx, name, want)
				break
			}
		default:
			a.travel(ctx)
		}
	}
}

// note writes down what the table is.
func (a *annals) note() {
	a.past = append(a.past, pastTable{time.Now(), stored(a.t, a.Engine, "tab", "")})
}

func (a *annals) name() string {
	a.tables++
	return fmt.Sprint("new", a.tables)
}

// turn turns recovery on, off, or to another period.
func (a *annals) turn(ctx context.Context) {
	in := &UpdateContinuousBackupsInput{TableName: new("tab"), HasSpec: true, Enabled: new(a.random.IntN(4) > 0)}
	if *in.Enabled && a.random.IntN(2) == 0 {
		in.Days = new(1 + a.random.Int64N(3))
	}
	_, err := a.UpdateContinuousBackups(ctx, in)
	noError(a.rt, err)
	if limit := a.limit(time.Now()); limit.After(a.gone) {
		a.gone = limit
	}
	switch {
	case !*in.Enabled:
		a.since, a.gone = time.Time{}, time.Time{}
	case a.since.IsZero():
		a.since, a.days = time.Now(), mostDays
	}
	if in.Days != nil {
		a.days = *in.Days
	}
}

// limit is when the period begins that recovery goes back.
func (a *annals) limit(now time.Time) time.Time {
	return now.Add(-time.Duration(a.days) * 24 * time.Hour)
}

// travel restores the table as it was at some time.
func (a *annals) travel(ctx context.Context) {
	now := time.Now()
	begin := a.past[0].at.Add(-time.Second)
	at := begin.Add(time.Duration(a.random.Int64N(int64(now.Sub(begin) + time.Second))))
	if a.random.IntN(2) == 0 {
		at = a.past[a.random.IntN(len(a.past))].at
	}
	name := a.name()
	_, err := a.RestoreTableToPointInTime(ctx, &RestoreInput{SourceTableName: new("tab"), TargetTableName: &name, At: &at})
	earliest := a.since
	if limit := a.limit(now); limit.After(earliest) {
		earliest = limit
	}
	latest := roundUp(now)
	var refused *Error
	switch {
	case a.since.IsZero():
		if !errors.As(err, &refused) || refused.Type != TypeNoRecovery {
			a.rt.Fatalf("without recovery: %v", err)
		}
	case at.Before(earliest) || at.After(latest):
		if !errors.As(err, &refused) || refused.Type != TypeInvalidRestoreTime {
			a.rt.Fatalf("%v is not between %v and %v, but: %v", at, earliest, latest, err)
		}
	case err != nil && at.Before(a.gone):
		if !errors.As(err, &refused) || refused.Type != TypeInvalidRestoreTime {
			a.rt.Fatalf("%v is before %v, but: %v", at, a.gone, err)
		}
	default:
		noError(a.rt, err)
		var want map[string]string
		for _, p := range a.past {
			if !p.at.After(at) {
				want = p.items
			}
		}
		a.compare(ctx, name, want)
	}
	// History is kept no longer than it must be.
	id := a.Engine.tables["tab"].record.ID
	old := store.History(id, 0, uint64(earliest.Add(-2*trimInterval).UnixNano()))
	if a.since.IsZero() {
		old = store.History(id, 0, maxSequence)
	}
	synctest.Wait()
	noError(a.rt, each(a.store.View, old, func(key, _ []byte) error { return fmt.Errorf("history %x is still there", key) }))
}

// compare compares a restored table with what it should be, and its indexes with those
// of a table into which the same items were put. Then it deletes both.
func (a *annals) compare(ctx context.Context, name string, want map[string]string) {
	if d := describeTable(a.t, a.Engine, name); d.Status != "ACTIVE" || d.ItemCount != int64(len(want)) {
		a.rt.Fatalf("the restored table is %s with %d items, want ACTIVE with %d", d.Status, d.ItemCount, len(want))
	}
	got := stored(a.t, a.Engine, name, "")
	if !maps.Equal(got, want) {
		a.rt.Fatalf("the restored table has\n%q, want\n%q", got, want)
	}
	_, err := a.CreateTable(ctx, newTableInput("twin", "pk:S sk:N").withGlobal("old", "o:S").withGlobal("idx", "a:S b:N"))
	noError(a.rt, err)
	for _, raw := range want {
		it, err := attr.Raw(raw).Decode()
		noError(a.rt, err)
		_, err = a.PutItem(ctx, &PutItemInput{TableName: new("twin"), Item: it, HasItem: true})
		noError(a.rt, err)
	}
	for _, index := range []string{"old", "idx"} {
		if got, want := stored(a.t, a.Engine, name, index), stored(a.t, a.Engine, "twin", index); !maps.Equal(got, want) {
			a.rt.Fatalf("index %s has\n%q, want\n%q", index, got, want)
		}
	}
	for _, table := range []string{name, "twin"} {
		_, err := a.DeleteTable(ctx, &TableInput{TableName: &table})
		noError(a.rt, err)
	}
}
