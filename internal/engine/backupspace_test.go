package engine

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
	"github.com/heatsink-go/heatsink/internal/store"
)

// filling is an engine with a table of so many items that a copy takes more than one batch. Once it is armed, the disk is full after the
// first of them.
type filling struct {
	*Engine
	disk  *gauge
	armed atomic.Bool
	full  atomic.Bool // the engine has noticed it
}

// openFilling opens one whose answers wait for copies as long as they are told.
func openFilling(t *testing.T, dir string, patience time.Duration) *filling {
	t.Helper()
	f := &filling{disk: newGauge(700)}
	f.Engine = openEngine(t, Options{Dir: dir, FS: f.disk, patience: patience, reached: func(s stage) {
		if s == filled && f.armed.Load() {
			f.disk.free.Store(60 << 20)
			settle(t, "the disk to be found full", func() bool { return f.store.Room(false) != nil })
			f.full.Store(true)
		}
	}})
	if len(f.tables) == 0 {
		createTable(t, f.Engine, newTableInput("tab", "pk:S"))
		for i := 0; i <= pourEntries; i += 25 {
			var writes []BatchWrite
			for n := i; n <= min(i+24, pourEntries); n++ {
				writes = append(writes, BatchWrite{Put: true, Item: fields("pk", fmt.Sprint(n))})
			}
			noError(t, errorOf(f.BatchWriteItem(t.Context(), &BatchWriteItemInput{Tables: []BatchWriteTable{{TableName: "tab", Writes: writes}}})))
		}
	}
	return f
}

// settle waits for something that happens beside the test. It gives up after a time that no machine takes for it.
func settle(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !happened(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("waited in vain for %s", what)
			return
		}
	}
}

// empty gives the disk its space back, so that the engine takes writes.
func (f *filling) empty(t *testing.T) {
	t.Helper()
	f.armed.Store(false)
	f.disk.free.Store(700 << 20)
	settle(t, "space to be found", func() bool { return f.store.Room(false) == nil })
	putItem(t, f.Engine, "tab", fields("pk", "new"))
}

// A backup that fills the disk is removed, and whoever asked for it is told: while it waited for space, nobody could write, and what it
// sees would keep the space of what others delete.
func TestBackupThatFillsTheDisk(t *testing.T) {
	e := openFilling(t, t.TempDir(), time.Hour)
	e.armed.Store(true)
	_, err := e.CreateBackup(t.Context(), &CreateBackupInput{TableName: new("tab"), BackupName: new("kept")})
	if !errors.Is(err, store.ErrNoWrites) {
		t.Errorf("got %v, want %v", err, store.ErrNoWrites)
	}
	if list, err := e.ListBackups(t.Context(), &ListBackupsInput{}); err != nil || len(list.Backups) != 0 {
		t.Errorf("got %d backups, %v; want none", len(list.Backups), err)
	}
	wantNoLeftovers(t, e.Engine)
	e.empty(t)
	if arn := createBackup(t, e.Engine, "tab"); !e.hasBackup(arn) {
		t.Error("with space, there is no backup")
	}
}

// A restore that fills the disk deletes what it has copied, and begins anew later, also after a restart.
func TestRestoreThatFillsTheDisk(t *testing.T) {
	for _, from := range []string{"a backup", "a point in time"} {
		t.Run(from, func(t *testing.T) {
			dir := t.TempDir()
			e := openFilling(t, dir, time.Millisecond)
			setRecovery(t, e.Engine, "tab", true)
			arn := createBackup(t, e.Engine, "tab")
			settle(t, "the backup", func() bool {
				b, err := e.DescribeBackup(t.Context(), &BackupInput{BackupARN: &arn})
				noError(t, err)
				return b.Status == "AVAILABLE"
			})
			e.armed.Store(true)
			if from == "a backup" {
				noError(t, restoreBackup(e.Engine, arn, "copy"))
			} else {
				noError(t, restoreLatest(e.Engine, "tab", "copy"))
			}
			settle(t, "the copy to fill the disk", e.full.Load)
			id := e.tables["copy"].record.ID
			settle(t, "what was copied to be deleted", func() bool {
				left := 0
				noError(t, each(e.store.View, store.Items(id), func(_, _ []byte) error { left++; return nil }))
				return left == 0
			})
			wantStates(t, describeTable(t, e.Engine, "copy"), "CREATING")
			e.empty(t) // others can write meanwhile
			noError(t, e.Close())
			e = openFilling(t, dir, time.Millisecond)
			waitWhole(t, e.Engine, "copy")
			if got := len(stored(t, e.Engine, "copy", "")); got != pourEntries+1 {
				t.Errorf("the restored table has %d items, want %d", got, pourEntries+1)
			}
		})
	}
}

// What is no longer in history cannot be restored: neither after its period was shorter for a while, nor after a clock was ahead.
func TestHistoryThatIsGone(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, e *Engine){
		"a shorter period": func(t *testing.T, e *Engine) {
			for _, days := range []int64{1, mostDays} {
				in := &UpdateContinuousBackupsInput{TableName: new("tab"), HasSpec: true, Enabled: new(true), Days: &days}
				noError(t, errorOf(e.UpdateContinuousBackups(t.Context(), in)))
				time.Sleep(2 * trimInterval)
			}
		},
		"a clock that was ahead": func(t *testing.T, e *Engine) {
			noError(t, errorOf(e.sweepHistory(t.Context(), e.tables["tab"], time.Now().Add((mostDays-1)*24*time.Hour))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				e := openEngine(t, Options{})
				createTable(t, e, newTableInput("tab", "pk:S"))
				setRecovery(t, e, "tab", true)
				putItem(t, e, "tab", fields("pk", "a"))
				time.Sleep(time.Hour)
				at := time.Now()
				time.Sleep(time.Hour)
				deleteItem(t, e, "tab", fields("pk", "a"))
				time.Sleep(3 * 24 * time.Hour)
				lose(t, e)
				err := errorOf(e.RestoreTableToPointInTime(t.Context(), &RestoreInput{SourceTableName: new("tab"), TargetTableName: new("old"), At: &at}))
				var refused *Error
				if !errors.As(err, &refused) || refused.Type != TypeInvalidRestoreTime {
					t.Errorf("got %v, want %s", err, TypeInvalidRestoreTime)
				}
				noError(t, restoreLatest(e, "tab", "new"))
			})
		})
	}
}
