package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

func TestFailingFlushRefusesWritesUntilItSucceeds(t *testing.T) {
	var full atomic.Bool
	var attempts atomic.Int64
	logger, log := logged()
	s := openWith(t, Options{Dir: t.TempDir(), Logger: logger, FS: fullFor(&full, &attempts, tableCreation)})
	s.trouble.allowed = 1000
	set(t, s, "a", "1")
	full.Store(true)
	s.flush()
	for !s.trouble.flush.failed() {
		time.Sleep(time.Millisecond)
	}
	if err := setOne(s); err != nil {
		t.Errorf("the first write after a failure: %v", err)
	}
	for range 1000 {
		if setOne(s) != nil {
			break
		}
	}
	if err := setOne(s); !errors.Is(err, ErrNoWrites) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a write while flushes fail: got %v, want %v and why", err, ErrNoWrites)
	}
	if got := get(t, s.View, "a"); got != "1" {
		t.Errorf("a is %s, want 1", got)
	}
	full.Store(false)
	for s.trouble.refusal() != nil {
		time.Sleep(time.Millisecond)
	}
	set(t, s, "b", "2")
	closed(t, s)
	if n := strings.Count(log.String(), "background error"); n != 1 {
		t.Errorf("it was told %d times, want once: %s", n, log)
	}
	if !strings.Contains(log.String(), "flush succeeds again") {
		t.Errorf("it was not told that it is over: %s", log)
	}
	if n := strings.Count(log.String(), "writes are refused"); n != 1 {
		t.Errorf("it was told %d times that writes are refused, want once: %s", n, log)
	}
	if s.trouble.written.Load() != 0 {
		t.Error("what was written while flushes failed still counts")
	}
}

// While flushes fail, as much is written as is allowed, not less.
func TestFailingFlushLeavesWhatIsAllowed(t *testing.T) {
	var full atomic.Bool
	var attempts atomic.Int64
	s := openWith(t, Options{Dir: t.TempDir(), FS: fullFor(&full, &attempts, tableCreation)})
	defer closed(t, s)
	defer full.Store(false)
	if s.trouble.allowed != int64(s.table) {
		t.Errorf("%d bytes are allowed, want a memtable's %d", s.trouble.allowed, s.table)
	}
	s.trouble.allowed = 100_000
	set(t, s, "a", "1")
	full.Store(true)
	s.flush()
	for !s.trouble.flush.failed() {
		time.Sleep(time.Millisecond)
	}
	written := 0
	for range 1000 {
		b := s.NewBatch()
		b.Set([]byte("b"), make([]byte, 1000))
		if b.Commit() != nil {
			break
		}
		written += 1000
	}
	if written < 90_000 || written > 110_000 {
		t.Errorf("%d bytes were taken, want 100,000 and a little", written)
	}
	b := s.NewBatch() // deletions go into the same memory
	b.Delete([]byte("b"))
	if err := b.Commit(); !errors.Is(err, ErrNoWrites) {
		t.Errorf("a deletion: got %v, want %v", err, ErrNoWrites)
	}
}

// A flush that finds nothing to write is none that fails.
func TestFlushOfNothingIsASuccess(t *testing.T) {
	tr := newTrouble(nil)
	var l pebble.EventListener
	tr.listen(&l, func(error) bool { return false })
	failed := errors.New("no")
	l.FlushEnd(pebble.FlushInfo{Err: failed})
	l.BackgroundError(failed)
	if !tr.flush.failed() {
		t.Fatal("it did not fail")
	}
	l.FlushEnd(pebble.FlushInfo{Err: errors.New("pebble: empty table")})
	if tr.flush.failed() {
		t.Error("writes are refused though there is nothing to flush")
	}
}

// Close begins no flush while flushes fail. That takes a new log, and the process
// would end if the disk had no space for one.
func TestCloseBeginsNoLogWhileFlushesFail(t *testing.T) {
	var full atomic.Bool
	var logs atomic.Int64
	dir := t.TempDir()
	s := openWith(t, Options{Dir: dir, FS: broken(func(op errorfs.Op) error {
		switch {
		case full.Load() && tableCreation(op):
			return syscall.ENOSPC
		case (op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite) && strings.HasSuffix(op.Path, ".log"):
			logs.Add(1)
		}
		return nil
	})})
	set(t, s, "a", "1")
	full.Store(true)
	s.flush()
	for !s.trouble.flush.failed() {
		time.Sleep(time.Millisecond)
	}
	set(t, s, "b", "2")
	before := logs.Load()
	closed(t, s)
	if n := logs.Load() - before; before == 0 || n != 0 {
		t.Errorf("%d logs were begun by Close after %d before it, want none", n, before)
	}
	s = open(t, dir)
	defer closed(t, s)
	for key, want := range map[string]string{"a": "1", "b": "2"} {
		if got := get(t, s.View, key); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
}

// A failure that is over does not keep Close from waiting for its flush.
func TestCloseFlushesAfterAPastFailure(t *testing.T) {
	var slow atomic.Bool
	dir := t.TempDir()
	s := openWith(t, Options{Dir: dir, FS: broken(func(op errorfs.Op) error {
		if slow.Load() && tableCreation(op) {
			time.Sleep(20 * time.Millisecond) // so that who does not wait is first
		}
		return nil
	})})
	set(t, s, "a", "1")
	s.trouble.met <- errors.New("a failure of the past")
	slow.Store(true)
	before := s.db.Metrics().Flush.Count
	s.settle()
	if n := s.db.Metrics().Flush.Count - before; n != 1 {
		t.Errorf("%d flushes are over when it is settled, want 1", n)
	}
	closed(t, s)
}

func TestPausesGrowAndEnd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		tr := newTrouble(nil)
		start := time.Now()
		tr.flush.wait()
		if took := time.Since(start); took != 0 {
			t.Errorf("it waits for %v without a failure", took)
		}
		var last time.Duration
		for i := range 20 {
			tr.flush.again(errors.New("no"))
			start := time.Now()
			tr.flush.wait()
			took := time.Since(start)
			if took < last || took == 0 || took > mostPause {
				t.Errorf("pause %d takes %v after one of %v", i, took, last)
			}
			last = took
		}
		if last != mostPause {
			t.Errorf("the last pause takes %v, want %v", last, mostPause)
		}
		start = time.Now()
		go tr.end()
		tr.flush.wait()
		if took := time.Since(start); took != 0 {
			t.Errorf("a store that is closed is waited for, %v", took)
		}
		tr.flush.over()
		tr.flush.wait()
	})
}

func TestTroubleIsToldAgainWhenItChanges(t *testing.T) {
	logger, log := logged()
	tr := newTrouble(logger)
	for i := range 10 {
		tr.compaction.again(fmt.Errorf("write %06d.sst: no space", i))
	}
	tr.compaction.again(errors.New("write 000010.sst: input/output error"))
	tr.compaction.over()
	tr.compaction.again(errors.New("write 000011.sst: input/output error"))
	if n := strings.Count(log.String(), "background error"); n != 3 {
		t.Errorf("told %d times, want 3: %s", n, log)
	}
}

// unsettled returns a directory as after a crash, with everything in its logs.
func unsettled(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir)
	fill(t, s, 100)
	to := crash(t, dir)
	closed(t, s)
	return to
}

func TestOpenThatCannotSucceedEnds(t *testing.T) {
	for name, cause := range map[string]error{"full": syscall.ENOSPC, "broken": syscall.EIO} {
		t.Run(name, func(t *testing.T) {
			dir := unsettled(t)
			_, err := Open(context.Background(), Options{Dir: dir, FS: broken(func(op errorfs.Op) error {
				if tableCreation(op) {
					return cause
				}
				return nil
			})})
			if !errors.Is(err, cause) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v, want the cause and the directory", err)
			}
			if errors.Is(err, ErrFull) != (cause == syscall.ENOSPC) {
				t.Errorf("got %v", err)
			}
			s := open(t, dir) // all of it is still there
			defer closed(t, s)
			if got := get(t, s.View, "000099"); len(got) != 100 {
				t.Errorf("the last item is %q", got)
			}
		})
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	dir := unsettled(t)
	for _, at := range []func(errorfs.Op) bool{
		func(op errorfs.Op) bool { return op.Kind == errorfs.OpOpen && strings.HasSuffix(op.Path, ".log") },
		tableCreation,
		func(op errorfs.Op) bool { return op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".log") },
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		why := errors.New("enough")
		_, err := Open(ctx, Options{Dir: dir, FS: broken(func(op errorfs.Op) error {
			if at(op) {
				cancel(why)
				time.Sleep(10 * time.Millisecond) // as a slow disk, until it is noticed
			}
			return nil
		})})
		if !errors.Is(err, why) || errors.Is(err, ErrDamaged) {
			t.Errorf("got %v, want %v", err, why)
		}
	}
	s := open(t, dir)
	defer closed(t, s)
	if got := get(t, s.View, "000099"); len(got) != 100 {
		t.Errorf("the last item is %q", got)
	}
}

func TestStartMakesRoomForItself(t *testing.T) {
	dir := unsettled(t)
	orphan := filepath.Join(dir, dbDir, "000099.sst")
	if err := os.WriteFile(orphan, make([]byte, mb), 0o600); err != nil {
		t.Fatal(err)
	}
	disk := newGauged(8*mb, mb/2)
	seen := false
	_, err := Open(context.Background(), Options{Dir: dir, Reserve: -1, FS: errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if tableCreation(op) {
			_, err := os.Stat(orphan)
			seen = err != nil
			return syscall.ENOSPC
		}
		return nil
	}))})
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "512 KB are free") {
		t.Errorf("got %v, want %v and how much is free", err, ErrFull)
	}
	if !seen {
		t.Error("a table file that nobody needs was still there when others were written")
	}
}

func TestTooFullToStart(t *testing.T) {
	dir := t.TempDir()
	closed(t, open(t, dir))
	_, err := Open(context.Background(), Options{Dir: dir, FS: newGauged(800*mb, 10*mb)})
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "a quarter of the reserve, 25.0 MB, must be") {
		t.Errorf("got %v, want %v and how much is needed", err, ErrFull)
	}
	closed(t, open(t, dir))
}
