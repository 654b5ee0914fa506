package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/heatsink-go/heatsink/internal/attr"
	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/partition"
	"github.com/heatsink-go/heatsink/internal/store"
)

func createBackup(t testing.TB, e *Engine, table string) string {
	t.Helper()
	b, err := e.CreateBackup(t.Context(), &CreateBackupInput{TableName: &table, BackupName: new("kept")})
	if err != nil {
		t.Fatalf("back up table %s: %v", table, err)
	}
	return b.ARN
}

func setRecovery(t testing.TB, e *Engine, table string, on bool) *ContinuousBackups {
	t.Helper()
	out, err := e.UpdateContinuousBackups(t.Context(), &UpdateContinuousBackupsInput{TableName: &table, HasSpec: true, Enabled: &on})
	if err != nil {
		t.Fatalf("point-in-time recovery of %s: %v", table, err)
	}
	return out
}

// waitWhole waits until a table is restored.
func waitWhole(t *testing.T, e *Engine, table string) {
	t.Helper()
	for describeTable(t, e, table).Status != "ACTIVE" {
		time.Sleep(time.Millisecond)
	}
}

func restoreBackup(e *Engine, arn, to string) error {
	return errorOf(e.RestoreTableFromBackup(context.Background(), &RestoreInput{BackupARN: &arn, TargetTableName: &to}))
}

func restoreLatest(e *Engine, from, to string) error {
	return errorOf(e.RestoreTableToPointInTime(context.Background(), &RestoreInput{SourceTableName: &from, TargetTableName: &to, Latest: true}))
}

// halt lets an engine's copies stop after their first entries, from when it is armed
// until it is released.
type halt struct {
	armed    atomic.Bool
	halted   chan struct{}
	released chan struct{}
	once     sync.Once
}

func newHalt() *halt { return &halt{halted: make(chan struct{}), released: make(chan struct{})} }

func (h *halt) reached(s stage) {
	if s == filled && h.armed.Load() {
		h.once.Do(func() { close(h.halted) })
		<-h.released
	}
}

// What stands in the way of what while a table is restored.
func TestChangesBesideARestore(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHalt()
		e := openEngine(t, Options{reached: h.reached})
		createTable(t, e, newTableInput("tab", "pk:S"))
		putItem(t, e, "tab", fields("pk", "a"))
		arn := createBackup(t, e, "tab")
		setRecovery(t, e, "tab", true)
		h.armed.Store(true)
		begun := time.Now()
		d, err := e.RestoreTableFromBackup(t.Context(), &RestoreInput{BackupARN: &arn, TargetTableName: new("new")})
		if err != nil || d.Status != "CREATING" || d.Restore == nil || d.Restore.BackupARN != arn {
			t.Fatalf("got %+v, %v", d, err)
		}
		if waited := time.Since(begun); waited != patience {
			t.Errorf("the answer waited for %v, want %v", waited, patience)
		}
		if err := restoreLatest(e, "tab", "past"); err != nil {
			t.Fatal(err)
		}
		if d := describeTable(t, e, "new"); d.Status != "CREATING" || d.Restore == nil {
			t.Errorf("while it is restored, the table is %+v", d)
		}
		get := &GetItemInput{TableName: new("new"), Key: fields("pk", "a"), HasKey: true}
		const missing = "Requested resource not found: Table: new not found"
		wantError(t, errorOf(e.DescribeTimeToLive(t.Context(), &TableInput{TableName: new("new")})), TypeResourceNotFound, missing)
		wantError(t, errorOf(e.UpdateTable(t.Context(), &UpdateTableInput{TableName: new("new"), DeletionProtection: new(true)})),
			TypeResourceNotFound, missing)
		wantError(t, errorOf(e.UpdateContinuousBackups(t.Context(), &UpdateContinuousBackupsInput{TableName: new("new"), HasSpec: true, Enabled: new(true)})),
			TypeTableNotFound, "Table not found: new")
		wantError(t, errorOf(e.CreateTable(t.Context(), newTableInput("new", "pk:S"))), TypeResourceInUse,
			"Attempt to change a resource which is still in use: Table is being used: new")
		wantError(t, errorOf(e.GetItem(t.Context(), get)), TypeResourceNotFound, "Requested resource not found")
		wantError(t, restoreBackup(e, arn, "more"), TypeBackupInUse, "Backup is being used to restore another table: "+arn)
		wantError(t, restoreLatest(e, "tab", "new"), TypeTableInUse, "Table: new is already being restored from backup: "+arn)
		wantError(t, restoreLatest(e, "tab", "past"), TypeTableInUse,
			"Table: past is already being restored from table: arn:aws:dynamodb:us-east-1:000000000000:table/tab")
		wantError(t, errorOf(e.DeleteBackup(t.Context(), &BackupInput{BackupARN: &arn})), TypeBackupInUse, "Backup is being used to restore table: "+arn)
		wantError(t, errorOf(e.DeleteTable(t.Context(), &TableInput{TableName: new("new")})), TypeResourceInUse,
			"Attempt to change a resource which is still in use: Table is being created: new")
		wantError(t, errorOf(e.DeleteTable(t.Context(), &TableInput{TableName: new("tab")})), TypeResourceInUse,
			"Attempt to change a resource which is still in use: Table past is being restored from table tab")
		wantError(t, errorOf(e.CreateBackup(t.Context(), &CreateBackupInput{TableName: new("new"), BackupName: new("kept")})),
			TypeTableNotFound, "Table not found: new")
		wantError(t, restoreLatest(e, "new", "more"), TypeTableNotFound, "Table not found: new")
		off := &UpdateContinuousBackupsInput{TableName: new("tab"), HasSpec: true, Enabled: new(false)}
		wantError(t, errorOf(e.UpdateContinuousBackups(t.Context(), off)), TypeValidation,
			"Point in time recovery of table tab cannot be disabled while a table is being restored from it")
		close(h.released)
		synctest.Wait()
		for _, name := range []string{"new", "past"} {
			if d := describeTable(t, e, name); d.Status != "ACTIVE" || d.Restore != nil || d.ItemCount != 1 {
				t.Errorf("restored, the table is %+v", d)
			}
		}
		deleteTable(t, e, "tab")
		if err := restoreBackup(e, arn, "more"); err != nil {
			t.Error(err)
		}
	})
}

// What is written while a backup is made is not in it.
func TestBackupIsOfOneMoment(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHalt()
		e := openEngine(t, Options{reached: h.reached})
		createTable(t, e, newTableInput("tab", "pk:S"))
		load(t, e, 2*pourEntries)
		h.armed.Store(true)
		arn := createBackup(t, e, "tab")
		if b, err := e.DescribeBackup(t.Context(), &BackupInput{BackupARN: &arn}); err != nil || b.Status != "CREATING" {
			t.Errorf("got %+v, %v; want that it is being created", b, err)
		}
		wantError(t, restoreBackup(e, arn, "new"), TypeBackupInUse, "Backup is being created: "+arn)
		wantError(t, errorOf(e.DeleteBackup(t.Context(), &BackupInput{BackupARN: &arn})), TypeBackupInUse, "Backup is being created: "+arn)
		before := stored(t, e, "tab", "")
		for i := range 2 * pourEntries {
			if i%97 == 0 {
				deleteItem(t, e, "tab", fields("pk", fmt.Sprint(i)))
				putItem(t, e, "tab", fields("pk", fmt.Sprint("later", i)))
			}
		}
		deleteTable(t, e, "tab") // which a backup outlives
		close(h.released)
		synctest.Wait()
		if err := restoreBackup(e, arn, "new"); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(before, stored(t, e, "new", "")) {
			t.Error("the backup is not the table as it was")
		}
	})
}

// An index that is being filled is not in a backup, nor what only it needs.
func TestBackupLeavesUnfinishedIndexesOut(t *testing.T) {
	e, release := openHalted(t, Options{})
	setRecovery(t, e, "tab", true)
	done := make(chan error)
	go func() {
		_, err := e.CreateBackup(t.Context(), &CreateBackupInput{TableName: new("tab"), BackupName: new("kept")})
		done <- errors.Join(err, restoreLatest(e, "tab", "past"))
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	release()
	list, err := e.ListBackups(t.Context(), &ListBackupsInput{})
	if err != nil || len(list.Backups) != 1 {
		t.Fatalf("got %+v, %v", list, err)
	}
	arn := list.Backups[0].ARN
	if d := list.Backups[0].Table; len(d.AttributeDefinitions) != 2 {
		t.Errorf("the backup has definitions of %v", d.AttributeDefinitions)
	}
	for restoreBackup(e, arn, "new") != nil { // until the backup is made
		time.Sleep(time.Millisecond)
	}
	for _, name := range []string{"new", "past"} {
		waitWhole(t, e, name)
		d := describeTable(t, e, name)
		if len(d.GlobalIndexes) != 1 || d.GlobalIndexes[0].IndexName != "old" || len(d.AttributeDefinitions) != 2 || d.ItemCount != 10 {
			t.Errorf("the restored table is %+v", d)
		}
	}
}

// Transactions are in a backup, and in a table as it was, as a whole or not at all.
func TestRestoresHaveWholeTransactions(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("tab", "pk:S"))
	setRecovery(t, e, "tab", true)
	put := func(ctx context.Context, n int) error {
		var actions []TransactWrite
		for i := range 5 {
			actions = append(actions, TransactWrite{Put: &PutItemInput{TableName: new("tab"), Item: fields("pk", fmt.Sprint(i), "n", n), HasItem: true}})
		}
		return errorOf(e.TransactWriteItems(ctx, &TransactWriteItemsInput{HasActions: true, Actions: actions}))
	}
	if err := put(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for n := 1; ; n++ {
				select {
				case <-stop:
					return
				default:
					_ = put(t.Context(), n) // the other's may be in the way
				}
			}
		})
	}
	same := func(table string) {
		waitWhole(t, e, table)
		out, err := e.Scan(t.Context(), &ReadInput{TableName: &table})
		if err != nil || out.Count != 5 {
			t.Fatalf("got %+v, %v; want 5 items", out, err)
		}
		for _, raw := range out.Items {
			if a, b := raw.Get("n"), out.Items[0].Get("n"); a.Str != b.Str {
				t.Errorf("table %s has a part of a transaction", table)
			}
		}
	}
	for i := range 10 {
		name := fmt.Sprint("backup", i)
		arn := createBackup(t, e, "tab")
		for restoreBackup(e, arn, name) != nil {
			time.Sleep(time.Millisecond)
		}
		same(name)
		name = fmt.Sprint("past", i)
		if err := restoreLatest(e, "tab", name); err != nil {
			t.Fatal(err)
		}
		same(name)
	}
	close(stop)
	writers.Wait()
}

// After a crash, or a Close, in the middle of it: a backup is whole or not there, a
// restore goes on, and history is what it was.
func TestBackupsAndRestoresAfterRestart(t *testing.T) {
	for _, crash := range []bool{true, false} {
		t.Run(fmt.Sprintf("crash=%t", crash), func(t *testing.T) {
			h := newHalt()
			dir := t.TempDir()
			e, err := Open(Options{Dir: dir, reached: h.reached})
			if err != nil {
				t.Fatal(err)
			}
			createTable(t, e, newTableInput("tab", "pk:S").withGlobal("idx", "a:S"))
			load(t, e, 100)
			arn := createBackup(t, e, "tab")
			backedUp := stored(t, e, "tab", "")
			setRecovery(t, e, "tab", true)
			at := time.Now()
			for i := range 50 {
				deleteItem(t, e, "tab", fields("pk", fmt.Sprint(i)))
				putItem(t, e, "tab", fields("pk", fmt.Sprint("later", i), "a", "x"))
			}
			latest, entries := stored(t, e, "tab", ""), stored(t, e, "tab", "idx")
			h.armed.Store(true)
			cut := createBackup(t, e, "tab")
			if err := errors.Join(restoreBackup(e, arn, "new"), restoreLatest(e, "tab", "past")); err != nil {
				t.Fatal(err)
			}
			e.jobs.cancel()
			close(h.released)
			end(t, e, crash)

			e = openEngine(t, Options{Dir: dir})
			if crash { // a Close may have let it be made
				wantError(t, errorOf(e.DescribeBackup(t.Context(), &BackupInput{BackupARN: &cut})), TypeBackupNotFound, "Backup not found: "+cut)
			}
			for name, want := range map[string]map[string]string{"new": backedUp, "past": latest} {
				waitWhole(t, e, name)
				if !maps.Equal(want, stored(t, e, name, "")) {
					t.Errorf("table %s is not what it was restored from", name)
				}
				if d := describeTable(t, e, name); d.ItemCount != int64(len(want)) {
					t.Errorf("table %s has %d items, want %d", name, d.ItemCount, len(want))
				}
			}
			if !maps.Equal(entries, stored(t, e, "past", "idx")) {
				t.Error("the index of a restored table is not what it was")
			}
			if _, err := e.RestoreTableToPointInTime(t.Context(), &RestoreInput{
				SourceTableName: new("tab"), TargetTableName: new("before"), At: &at,
			}); err != nil {
				t.Fatal(err)
			}
			waitWhole(t, e, "before")
			if !maps.Equal(backedUp, stored(t, e, "before", "")) {
				t.Error("history is not what it was")
			}
			wantNoLeftovers(t, e)

			// What restored tables hold is not counted again at the next opening.
			putItem(t, e, "new", fields("pk", "one more", "a", "x"))
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e = openEngine(t, Options{Dir: dir})
			if d := describeTable(t, e, "new"); d.ItemCount != int64(len(backedUp))+1 {
				t.Errorf("after the next opening table new has %d items, want %d", d.ItemCount, len(backedUp)+1)
			}
		})
	}
}

// wantNoLeftovers checks that all items in the store are of a table or a backup.
func wantNoLeftovers(t *testing.T, e *Engine) {
	t.Helper()
	known := map[uint32]bool{}
	for _, tab := range e.tables {
		known[tab.record.ID] = true
	}
	for _, b := range e.backups {
		known[b.ID] = true
	}
	for id := range e.nextTable {
		if known[id] {
			continue
		}
		for _, r := range []store.Range{store.Items(id), store.History(id, 0, maxSequence)} {
			if err := each(e.store.View, r, func(key, _ []byte) error {
				return fmt.Errorf("%x of number %d is left behind", key, id)
			}); err != nil {
				t.Error(err)
			}
		}
	}
}

// If what a table was being restored from is gone after a crash, the table is gone,
// rather than half there.
func TestRestoreWithoutItsSourceIsGivenUp(t *testing.T) {
	h := newHalt()
	dir := t.TempDir()
	e, err := Open(Options{Dir: dir, reached: h.reached})
	if err != nil {
		t.Fatal(err)
	}
	createTable(t, e, newTableInput("tab", "pk:S"))
	load(t, e, 10)
	arn := createBackup(t, e, "tab")
	h.armed.Store(true)
	if err := restoreBackup(e, arn, "new"); err != nil {
		t.Fatal(err)
	}
	b := e.store.NewBatch()
	e.backups[backupKey(arn)].drop(b)
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	e.jobs.cancel()
	close(h.released)
	end(t, e, true)
	e = openEngine(t, Options{Dir: dir})
	if names := e.TableNames(); !slices.Equal(names, []string{"tab"}) {
		t.Errorf("got tables %v, want tab alone", names)
	}
	wantNoLeftovers(t, e)
}

// The backup of a deleted table is there for 35 days.
func TestSystemBackupExpires(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		e := openEngine(t, Options{})
		for range 2 { // also within the same millisecond
			createTable(t, e, newTableInput("tab", "pk:S").withGlobal("idx", "a:S"))
			setRecovery(t, e, "tab", true)
			putItem(t, e, "tab", fields("pk", "a", "a", "x"))
			deleteTable(t, e, "tab")
		}
		count := func() int {
			list, err := e.ListBackups(t.Context(), &ListBackupsInput{Type: new("ALL")})
			if err != nil {
				t.Fatal(err)
			}
			return len(list.Backups)
		}
		time.Sleep(systemLife - time.Second)
		if n := count(); n != 2 {
			t.Errorf("got %d backups, want 2", n)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := count(); n != 0 || len(e.backups) != 0 {
			t.Errorf("got %d backups, and %d are kept; want none", n, len(e.backups))
		}
		wantNoLeftovers(t, e)
	})
}

// A backup whose time ends while a table is restored from it is told of no more, and is removed when the table is there.
func TestSystemBackupExpiresBesideARestore(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := newHalt()
		e := openEngine(t, Options{reached: h.reached})
		createTable(t, e, newTableInput("tab", "pk:S"))
		setRecovery(t, e, "tab", true)
		putItem(t, e, "tab", fields("pk", "a"))
		deleteTable(t, e, "tab")
		list := func() []*Backup {
			out, err := e.ListBackups(t.Context(), &ListBackupsInput{Type: new("ALL")})
			if err != nil {
				t.Fatal(err)
			}
			return out.Backups
		}
		arn := list()[0].ARN
		time.Sleep(systemLife - time.Minute)
		h.armed.Store(true)
		noError(t, restoreBackup(e, arn, "new"))
		time.Sleep(time.Minute)
		if n := len(list()); n != 0 {
			t.Errorf("%d backups are listed, want none", n)
		}
		wantError(t, errorOf(e.DescribeBackup(t.Context(), &BackupInput{BackupARN: &arn})), TypeBackupNotFound, "Backup not found: "+arn)
		if n := keptBackups(e); n != 1 {
			t.Errorf("%d backups are kept while one is in use, want 1", n)
		}
		close(h.released)
		waitWhole(t, e, "new")
		if d := describeTable(t, e, "new"); d.ItemCount != 1 {
			t.Errorf("restored, the table is %+v", d)
		}
		time.Sleep(sweepRetry)
		synctest.Wait()
		if n := keptBackups(e); n != 0 {
			t.Errorf("%d backups are kept, want none", n)
		}
		deleteTable(t, e, "new")
		wantNoLeftovers(t, e)
	})
}

// A restored table has the partitions that its items need.
func TestRestoreWithPhysics(t *testing.T) {
	e := openEngine(t, Options{Physics: &partition.Options{}})
	createTable(t, e, newTableInput("tab", "pk:S").withGlobal("idx", "a:S"))
	load(t, e, 50)
	if err := restoreBackup(e, createBackup(t, e, "tab"), "new"); err != nil {
		t.Fatal(err)
	}
	waitWhole(t, e, "new")
	putItem(t, e, "new", fields("pk", "x", "a", "y"))
	if out, err := scanIndex(t, e, "new", "idx"); err != nil || out.Count != 51 {
		t.Errorf("got %+v, %v; want 51 entries", out, err)
	}
	deleteTable(t, e, "new")
}

// A restored table takes its part of the account's quota once, and its partitions know how much they hold.
func TestPartitionsOfARestoredTable(t *testing.T) {
	e := openEngine(t, Options{Physics: &partition.Options{}})
	createTable(t, e, newTableInput("tab", "pk:S").provisioned(5000, 5000))
	for i := range 20 {
		putItem(t, e, "tab", fields("pk", fmt.Sprint(i), "p", strings.Repeat("x", 10<<10)))
	}
	noError(t, restoreBackup(e, createBackup(t, e, "tab"), "new"))
	waitWhole(t, e, "new")
	if got := heldBytes(e.tables["new"].partitions); got < 200<<10 {
		t.Errorf("the partitions hold %d bytes, want 200 KB at least", got)
	}
	if got := e.account.Provisioned(); got.Read != 10_000 || got.Write != 10_000 {
		t.Errorf("got %+v provisioned in all, want 10,000 of each", got)
	}
}

// heldBytes is how much partitions take their data for.
func heldBytes(s *partition.Set) (bytes int64) {
	for _, p := range s.Snapshot(time.Now(), 0).Partitions {
		bytes += p.Bytes
	}
	return bytes
}

func TestListContributorInsights(t *testing.T) {
	e := openEngine(t, Options{Physics: &partition.Options{}})
	for _, name := range []string{"a-b", "a.b", "abc"} {
		createTable(t, e, newTableInput(name, "pk:S").withGlobal("idx", "a:S"))
	}
	for _, of := range [][2]string{{"abc", ""}, {"abc", "idx"}, {"a.b", "idx"}, {"a-b", ""}} {
		in := &ContributorInsightsInput{TableName: &of[0], Action: new("ENABLE")}
		if of[1] != "" {
			in.IndexName = &of[1]
		}
		if _, err := e.UpdateContributorInsights(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	in := &ListInsightsInput{MaxResults: new(int64(1))}
	for {
		out, err := e.ListContributorInsights(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range out.Insights {
			got = append(got, i.TableName+"/"+i.IndexName+" "+i.Status)
		}
		if out.NextToken == "" {
			break
		}
		in.NextToken = &out.NextToken
	}
	want := []string{"a-b/ ENABLED", "a.b/idx ENABLED", "abc/ ENABLED", "abc/idx ENABLED"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	out, err := e.ListContributorInsights(t.Context(), &ListInsightsInput{TableName: new("a.b")})
	if err != nil || len(out.Insights) != 1 {
		t.Errorf("got %+v, %v; want the one of a.b", out, err)
	}
}

func TestPastItems(t *testing.T) {
	for _, before := range []attr.Raw{nil, attr.Raw("item")} {
		place, got, err := cutPastItem(pastItem([]byte("place"), before))
		if err != nil || string(place) != "place" || string(got) != string(before) || (got == nil) != (before == nil) {
			t.Errorf("got %q, %q, %v; want place and %q", place, got, err, before)
		}
	}
	for _, damaged := range []string{"", "\x05abc", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if _, _, err := cutPastItem([]byte(damaged)); err == nil {
			t.Errorf("%q is taken for an entry", damaged)
		}
	}
}

// A restore that a closing engine refuses leaves no view of the store behind, which the store would complain about when it closes.
func TestRestoreWhileClosing(t *testing.T) {
	e := openEngine(t, Options{})
	createTable(t, e, newTableInput("tab", "pk:S"))
	arn := createBackup(t, e, "tab")
	e.jobs.close() // as Close does first
	wantError(t, restoreBackup(e, arn, "copy"), TypeInternal, "the engine is closed")
}

// Both times that are described can be restored, as an answer has them: cut to milliseconds. The latest has all changes, also those of an hour
// that the clock repeats, which share an instant.
func TestDescribedTimesAreRestorable(t *testing.T) {
	for name, c := range map[string]struct {
		turn  time.Duration // when recovery is turned on, after a whole millisecond
		ahead time.Duration // how far the clock was ahead
	}{
		"on time":                    {0, 0},
		"within a millisecond":       {100 * time.Microsecond, 0},
		"after a clock was set back": {0, time.Hour + 123*time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				e := openEngine(t, Options{})
				createTable(t, e, newTableInput("tab", "pk:S"))
				time.Sleep(c.turn)
				setRecovery(t, e, "tab", true)
				e.chronicle.take(time.Now().Add(c.ahead), 0)
				putItem(t, e, "tab", fields("pk", "a"))
				time.Sleep(50 * time.Microsecond)
				putItem(t, e, "tab", fields("pk", "b"))
				d, err := e.DescribeContinuousBackups(t.Context(), &TableInput{TableName: new("tab")})
				noError(t, err)
				for to, at := range map[string]time.Time{"first": d.Earliest, "last": d.Latest} {
					at = at.Truncate(time.Millisecond)
					noError(t, errorOf(e.RestoreTableToPointInTime(t.Context(), &RestoreInput{SourceTableName: new("tab"), TargetTableName: &to, At: &at})))
				}
				for _, pk := range []string{"a", "b"} {
					if !hasItem(t, e, "last", fields("pk", pk)) {
						t.Errorf("the latest table has no item %s", pk)
					}
				}
				late := d.Latest.Add(time.Millisecond)
				err = errorOf(e.RestoreTableToPointInTime(t.Context(), &RestoreInput{SourceTableName: new("tab"), TargetTableName: new("late"), At: &late}))
				if refused := ErrorOf(err); refused == nil || refused.Type != TypeInvalidRestoreTime {
					t.Errorf("later than the latest: got %v, want %s", err, TypeInvalidRestoreTime)
				}
			})
		})
	}
}
