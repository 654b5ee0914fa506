package engine

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/store"
)

// pastOf counts the entries of a table's history.
func pastOf(t *testing.T, e *Engine, table string) (n int) {
	t.Helper()
	noError(t, each(e.store.View, store.History(e.tables[table].record.ID, 0, maxSequence), func(_, _ []byte) error { n++; return nil }))
	return n
}

// keptBackups is how many backups there are, listed or not.
func keptBackups(e *Engine) int {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return len(e.backups)
}

// History goes forward, also where the clock does not, and no two changes have one number.
func TestChronicleNeverGoesBack(t *testing.T) {
	var c chronicle
	now := time.Unix(10_000, 0)
	for i, want := range []struct {
		ahead     time.Duration
		n         int
		at, first uint64
	}{
		{0, 3, 10_000e9, 1},
		{-time.Hour, 2, 10_000e9, 4},
		{-time.Minute, 0, 10_000e9, 6},
		{1, 1, 10_000e9 + 1, 6},
		{1, 1, 10_000e9 + 1, 7},
	} {
		if at, first := c.take(now.Add(want.ahead), want.n); at != want.at || first != want.first {
			t.Errorf("change %d: got %d and %d, want %d and %d", i, at, first, want.at, want.first)
		}
	}
}

// History is trimmed between changes of its table, never beside one: the lock of a table knows one of them at a time.
func TestHistoryIsTrimmedBetweenChanges(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var armed atomic.Bool
		held, released := make(chan struct{}), make(chan struct{})
		e := openEngine(t, Options{reached: func(s stage) {
			if s == decided && armed.CompareAndSwap(true, false) {
				close(held)
				<-released
			}
		}})
		createTable(t, e, newTableInput("tab", "pk:S"))
		_, err := e.UpdateContinuousBackups(t.Context(), &UpdateContinuousBackupsInput{TableName: new("tab"), HasSpec: true, Enabled: new(true), Days: new(int64(1))})
		noError(t, err)
		for range 3 {
			putItem(t, e, "tab", fields("pk", "a", "at", time.Now().Unix()))
			time.Sleep(time.Hour)
		}
		if pastOf(t, e, "tab") == 0 {
			t.Fatal("there is no history to be trimmed")
		}
		time.Sleep(20 * time.Hour)
		armed.Store(true)
		var all sync.WaitGroup
		all.Go(func() { putItem(t, e, "tab", fields("pk", "b")) })
		<-held
		time.Sleep(6 * time.Hour) // the sweeper waits for the write, to trim
		all.Go(func() {
			updateTable(t, e, &UpdateTableInput{TableName: new("tab"), DeletionProtection: new(true)})
		})
		synctest.Wait()
		close(released)
		all.Wait()
		synctest.Wait()
		if n := pastOf(t, e, "tab"); n != 1 {
			t.Errorf("%d changes are left of the history, want the one that was just made", n)
		}
		if d := updateTable(t, e, &UpdateTableInput{TableName: new("tab"), DeletionProtection: new(false)}); d.DeletionProtection {
			t.Error("the next change did not happen")
		}
	})
}

// After a restart, history goes on behind all that there is, of whatever table.
func TestHistoryGoesOnAfterRestart(t *testing.T) {
	options := Options{Dir: t.TempDir()}
	e, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		name := fmt.Sprint("tab", i)
		createTable(t, e, newTableInput(name, "pk:S"))
		setRecovery(t, e, name, true)
	}
	putItem(t, e, "tab3", fields("pk", "a"))
	putItem(t, e, "tab2", fields("pk", "a"))
	e.chronicle.take(time.Now().Add(time.Hour), 0)
	setRecovery(t, e, "tab1", false)
	setRecovery(t, e, "tab1", true) // by a clock that is set back later
	at, sequence := e.chronicle.at, e.chronicle.sequence
	noError(t, e.Close())
	e = openEngine(t, options)
	if e.chronicle.at < at || e.chronicle.sequence != sequence {
		t.Errorf("got %d and %d, want %d at least and %d", e.chronicle.at, e.chronicle.sequence, at, sequence)
	}
}

// History has what changes, for as long as it is to have it, until recovery is turned off.
func TestHistoryIsTrimmed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{})
		createTable(t, e, newTableInput("tab", "pk:S"))
		want := func(when string, n int) {
			t.Helper()
			synctest.Wait()
			if got := pastOf(t, e, "tab"); got != n {
				t.Errorf("%s: got %d entries, want %d", when, got, n)
			}
		}
		putItem(t, e, "tab", fields("pk", "a"))
		want("before it was turned on", 0)
		_, err := e.UpdateContinuousBackups(t.Context(), &UpdateContinuousBackupsInput{TableName: new("tab"), HasSpec: true, Enabled: new(true), Days: new(int64(1))})
		noError(t, err)
		putItem(t, e, "tab", fields("pk", "a"))
		want("when nothing changes", 0)
		putItem(t, e, "tab", fields("pk", "a", "v", 1))
		putItem(t, e, "tab", fields("pk", "a", "v", 2))
		want("after two changes", 2)
		time.Sleep(12 * time.Hour)
		putItem(t, e, "tab", fields("pk", "a", "v", 3))
		want("after half a day", 3)
		time.Sleep(12*time.Hour + 2*trimInterval)
		want("after a day", 1)
		setRecovery(t, e, "tab", true)
		if d := e.tables["tab"].record.Recovery; d.Days != 1 {
			t.Errorf("turned on again, it goes back %d days, want 1", d.Days)
		}
		setRecovery(t, e, "tab", false)
		want("turned off", 0)
	})
}

// Backups that expire one after another are gone each in its time.
func TestBackupsExpireInTurn(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{})
		const n = 8
		for i := range n {
			name := fmt.Sprint("tab", i)
			createTable(t, e, newTableInput(name, "pk:S"))
			setRecovery(t, e, name, true)
			deleteTable(t, e, name)
			time.Sleep(24 * time.Hour)
		}
		time.Sleep(systemLife - n*24*time.Hour)
		for left := n - 1; left >= 0; left-- {
			time.Sleep(time.Second)
			synctest.Wait()
			if got := keptBackups(e); got != left {
				t.Errorf("got %d backups, want %d", got, left)
			}
			time.Sleep(24*time.Hour - time.Second)
		}
	})
}

// A backup's number is nobody else's, also after a restart.
func TestBackupKeepsItsNumber(t *testing.T) {
	options := Options{Dir: t.TempDir()}
	e, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	createTable(t, e, newTableInput("tab", "pk:S"))
	putItem(t, e, "tab", fields("pk", "a"))
	arn := createBackup(t, e, "tab")
	noError(t, e.Close())
	e = openEngine(t, options)
	createTable(t, e, newTableInput("other", "pk:S"))
	if hasItem(t, e, "other", fields("pk", "a")) {
		t.Error("a new table has the items of a backup")
	}
	deleteTable(t, e, "other")
	noError(t, restoreBackup(e, arn, "new"))
	waitWhole(t, e, "new")
	if !hasItem(t, e, "new", fields("pk", "a")) {
		t.Error("the backup's item is gone")
	}
}

// There are fifty backups and fifty restores under way at most.
func TestCopiesAreBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var blocked chan struct{}
		e := openEngine(t, Options{reached: func(s stage) {
			if s == filled && blocked != nil {
				<-blocked
			}
		}})
		createTable(t, e, newTableInput("tab", "pk:S"))
		putItem(t, e, "tab", fields("pk", "a"))
		blocked = make(chan struct{})
		backup := func() (*Backup, error) {
			return e.CreateBackup(t.Context(), &CreateBackupInput{TableName: new("tab"), BackupName: new("kept")})
		}
		var arns []string
		for range maxCopies {
			b, err := backup()
			noError(t, err)
			arns = append(arns, b.ARN)
		}
		_, err := backup()
		wantError(t, err, TypeLimitExceeded, "Subscriber limit exceeded: Only 50 backups can be created at the same time")
		close(blocked)
		synctest.Wait()
		b, err := backup()
		noError(t, err)
		blocked = make(chan struct{})
		for i, arn := range arns {
			noError(t, restoreBackup(e, arn, fmt.Sprint("new", i)))
		}
		wantError(t, restoreBackup(e, b.ARN, "more"), TypeLimitExceeded, "Subscriber limit exceeded: Only 50 restore operations can be done simultaneously")
		close(blocked)
		synctest.Wait()
		noError(t, restoreBackup(e, b.ARN, "more"))
	})
}

// What a transaction leaves as it is has no history.
func TestTransactionsRememberWhatChanges(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("tab", "pk:S"))
	setRecovery(t, e, "tab", true)
	putItem(t, e, "tab", fields("pk", "a"))
	in := &TransactWriteItemsInput{HasActions: true}
	for _, it := range []attr.Item{fields("pk", "a"), fields("pk", "b"), fields("pk", "c")} {
		in.Actions = append(in.Actions, TransactWrite{Put: &PutItemInput{TableName: new("tab"), Item: it, HasItem: true}})
	}
	noError(t, errorOf(e.TransactWriteItems(t.Context(), in)))
	if n := pastOf(t, e, "tab"); n != 3 {
		t.Errorf("got %d entries, want those of the first put and of two of the transaction", n)
	}
}

// A backup that breaks off is told and removed, and a restore begins anew.
func TestCopiesSurvivePanics(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		var log strings.Builder
		e := openEngine(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), reached: func(s stage) {
			if s == filled && broken.Swap(false) {
				panic(errBroken)
			}
		}})
		createTable(t, e, newTableInput("tab", "pk:S"))
		load(t, e, 20)
		arn := createBackup(t, e, "tab")
		broken.Store(true)
		err := errorOf(e.CreateBackup(t.Context(), &CreateBackupInput{TableName: new("tab"), BackupName: new("broken")}))
		if err == nil || !strings.Contains(err.Error(), errBroken.Error()) || keptBackups(e) != 1 {
			t.Errorf("got %v, and %d backups; want what went wrong, and the one before", err, keptBackups(e))
		}
		wantNoLeftovers(t, e)
		broken.Store(true)
		noError(t, restoreBackup(e, arn, "new"))
		setRecovery(t, e, "tab", true)
		broken.Store(true)
		noError(t, restoreLatest(e, "tab", "past"))
		wantStates(t, describeTable(t, e, "new"), "CREATING")
		time.Sleep(retryWait)
		synctest.Wait()
		for _, name := range []string{"new", "past"} {
			if d := describeTable(t, e, name); d.Status != "ACTIVE" || d.ItemCount != 20 {
				t.Errorf("restored, the table is %+v", d)
			}
		}
		if !strings.Contains(log.String(), "a backup cannot be made, and is removed") || !strings.Contains(log.String(), "restore a table") {
			t.Errorf("got %q in the log", log.String())
		}
	})
}

// A backup that the end of the engine breaks off is none for who asked for it.
func TestBackupWhileClosing(t *testing.T) {
	h := newHalt()
	e := openEngine(t, Options{reached: h.reached})
	createTable(t, e, newTableInput("tab", "pk:S"))
	putItem(t, e, "tab", fields("pk", "a"))
	h.armed.Store(true)
	e.options.patience = time.Hour
	done := make(chan error)
	go func() {
		done <- errorOf(e.CreateBackup(context.Background(), &CreateBackupInput{TableName: new("tab"), BackupName: new("kept")}))
	}()
	<-h.halted
	e.jobs.cancel() // as Close does first
	close(h.released)
	wantError(t, <-done, TypeInternal, "the engine is closed")
}
