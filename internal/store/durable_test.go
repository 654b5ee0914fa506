package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// broken is the real one with a fault in it.
func broken(fault func(errorfs.Op) error) vfs.FS {
	return errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(fault))
}

func isSync(kind errorfs.OpKind) bool {
	return kind == errorfs.OpFileSync || kind == errorfs.OpFileSyncData || kind == errorfs.OpFileSyncTo
}

// failures are what a disk may refuse, and what to do then. None of the actions
// may return.
var failures = map[string]struct {
	of     func(errorfs.Op) bool
	action func(*Store) error
}{
	"sync": {
		func(op errorfs.Op) bool { return isSync(op.Kind) && strings.HasSuffix(op.Path, ".log") },
		setOne,
	},
	"write": {
		func(op errorfs.Op) bool {
			return op.Kind == errorfs.OpFileWrite && strings.HasSuffix(op.Path, ".log")
		},
		setOne,
	},
	"new log": {
		func(op errorfs.Op) bool {
			return (op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite) && strings.HasSuffix(op.Path, ".log")
		},
		func(s *Store) error { s.flush(); return nil },
	},
	"manifest": { // which calls Fatalf, in the background
		func(op errorfs.Op) bool { return isSync(op.Kind) && strings.Contains(op.Path, "MANIFEST") },
		func(s *Store) error {
			s.flush()
			time.Sleep(10 * time.Second)
			return nil
		},
	},
	"anything": { // which calls Fatalf, in the caller's goroutine
		func(errorfs.Op) bool { return false },
		func(s *Store) error {
			pebbleLog{s.logger}.Fatalf("%v", syscall.ENOSPC)
			return nil
		},
	},
}

func setOne(s *Store) error {
	b := s.NewBatch()
	b.Set([]byte("b"), []byte("2"))
	return b.Commit()
}

const childEnv = "HEATSINK_STORE_FAILURE"

// TestFailingChild is the process of TestFailedDiskEndsTheProcess.
func TestFailingChild(t *testing.T) {
	name, logged, _ := strings.Cut(os.Getenv(childEnv), "/")
	if name == "" {
		t.Skip("this is for another test")
	}
	failure := failures[name]
	var failing atomic.Bool
	options := Options{Dir: t.TempDir(), FS: broken(func(op errorfs.Op) error {
		if failing.Load() && failure.of(op) {
			return syscall.ENOSPC
		}
		return nil
	})}
	if logged != "" {
		options.Logger = slog.New(slog.NewTextHandler(os.Stdout, nil))
	}
	s, err := Open(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	set(t, s, "a", "1")
	failing.Store(true)
	defer func() {
		fmt.Println("went on:", recover())
		os.Exit(0)
	}()
	fmt.Println("returned:", failure.action(s))
}

func TestFailedDiskEndsTheProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name := range failures {
		for _, logged := range []string{"", "logged"} {
			t.Run(name+" "+logged, func(t *testing.T) {
				t.Parallel()
				child := exec.Command(self, "-test.run=^TestFailingChild$")
				child.Env = append(os.Environ(), childEnv+"="+name+"/"+logged, "TMPDIR="+t.TempDir())
				var stdout, stderr bytes.Buffer
				child.Stdout, child.Stderr = &stdout, &stderr
				err := child.Run()
				if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
					t.Errorf("it ended with %v, want status 1", err)
				}
				told := stderr.String()
				if logged != "" {
					told = stdout.String()
				}
				if !strings.Contains(told, syscall.ENOSPC.Error()) {
					t.Errorf("it told %q, which does not say why", told)
				}
				if strings.Contains(stdout.String(), "went on") || strings.Contains(stdout.String(), "returned") {
					t.Errorf("it went on: %s", stdout.String())
				}
			})
		}
	}
}

func TestEmptyBatchWaitsForWhatCameBefore(t *testing.T) {
	var stuck atomic.Bool
	mend := make(chan struct{})
	s, err := Open(context.Background(), Options{Dir: t.TempDir(), FS: broken(func(op errorfs.Op) error {
		if stuck.Load() && isSync(op.Kind) && strings.HasSuffix(op.Path, ".log") {
			<-mend
		}
		return nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	stuck.Store(true)
	before, empty := s.NewBatch(), s.NewBatch()
	before.Set([]byte("a"), []byte("1"))
	if err := errors.Join(before.Apply(), empty.Apply()); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- empty.Wait() }()
	select {
	case <-done:
		t.Error("it did not wait")
		done = nil
	case <-time.After(100 * time.Millisecond):
	}
	stuck.Store(false)
	close(mend)
	if done != nil {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if err := before.Wait(); err != nil {
		t.Error(err)
	}
	closed(t, s)
}

// readOnly returns a store that refuses everything.
func readOnly(t *testing.T, options Options) *Store {
	t.Helper()
	s := newStore(options, nil)
	o := s.pebbleOptions(vfs.NewMem())
	if err := openAndClose("", o); err != nil {
		t.Fatal(err)
	}
	o.ReadOnly = true
	db, err := pebble.Open("", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return s.on(db)
}

func TestFailedApplyReleasesTheBatch(t *testing.T) {
	b := readOnly(t, Options{}).NewBatch()
	b.Set([]byte("a"), []byte("1"))
	if err := b.Commit(); !errors.Is(err, pebble.ErrReadOnly) {
		t.Errorf("got %v, want %v", err, pebble.ErrReadOnly)
	}
	if b.b != nil {
		t.Error("the batch is not released")
	}
	b.Discard() // twice would put it up for reuse twice
}

// A flush follows a write and is not part of it: Apply has no error of it.
func TestFlushThatCannotStartIsLogged(t *testing.T) {
	var log bytes.Buffer
	readOnly(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).flush()
	if !strings.Contains(log.String(), pebble.ErrReadOnly.Error()) {
		t.Errorf("the log says %q", log.String())
	}
}

// crash returns a copy of a store's directory as it is now.
func crash(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// files returns those of the database that match, with their sizes.
func files(t *testing.T, dir, pattern string) map[string]int64 {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, dbDir, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no file %s: %v", pattern, err)
	}
	sizes := map[string]int64{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sizes[path] = info.Size()
	}
	return sizes
}

// flip damages one byte of a file.
func flip(t *testing.T, path string, at int64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[at] ^= 0xFF
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func fill(t *testing.T, s *Store, keys int) {
	t.Helper()
	for i := range keys {
		set(t, s, fmt.Sprintf("%06d", i), strings.Repeat("x", 100))
	}
}

func TestDamageInTheFirstLogIsNoticed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	fill(t, s, 1000)
	dir = crash(t, dir)
	closed(t, s)
	for path, size := range files(t, dir, "*.log") {
		if size > 100_000 {
			flip(t, path, 50_000) // the file may have room at its end
		}
	}
	if _, err := Open(context.Background(), Options{Dir: dir}); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v, want %v", err, ErrDamaged)
	}
}

func TestClosedStoreNeedsNoLog(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"deleted": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			fill(t, s, 100)
			closed(t, s)
			for path := range files(t, dir, "*.log") {
				if err := spoil(path); err != nil {
					t.Fatal(err)
				}
			}
			s = open(t, dir)
			defer closed(t, s)
			if got := get(t, s.View, "000099"); len(got) != 100 {
				t.Errorf("the last item is %q", got)
			}
		})
	}
}

func TestCloseGivesUpOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	var full atomic.Bool
	s, err := Open(context.Background(), Options{Dir: dir, FS: broken(func(op errorfs.Op) error {
		if full.Load() && op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			return syscall.ENOSPC
		}
		return nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	set(t, s, "a", "1")
	full.Store(true)
	closed(t, s)
	s = open(t, dir)
	defer closed(t, s)
	if got := get(t, s.View, "a"); got != "1" {
		t.Errorf("a is %s, want 1", got)
	}
}

// complaints counts the background errors and the damaged files in a log.
type complaints struct{ background, damaged atomic.Int64 }

func (c *complaints) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("background error")) {
		c.background.Add(1)
	}
	if bytes.Contains(line, []byte("on-disk corruption")) {
		c.damaged.Add(1)
	}
	return len(line), nil
}

func TestDamagedTableFileFailsReadsOfItAlone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	b := s.NewBatch()
	for i := range 10_000 {
		b.Set(fmt.Appendf(nil, "%06d", i), bytes.Repeat([]byte("x"), 100))
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	for path := range files(t, dir, "*.sst") {
		flip(t, path, 50) // in the first block
	}
	var told complaints
	s, err := Open(context.Background(), Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&told, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, s)
	if _, _, err := s.Get(nil, []byte("000001")); !pebble.IsCorruptionError(err) {
		t.Errorf("a read of a damaged block: %v", err)
	}
	it, err := s.Read(Range{[]byte("000000"), []byte("000009")})
	if err != nil {
		t.Fatal(err)
	}
	if it.First() {
		t.Errorf("a walk over a damaged block finds %q", it.Key())
	}
	if err := it.Close(); !pebble.IsCorruptionError(err) {
		t.Errorf("a walk over a damaged block: %v", err)
	}
	for range 10 { // enough to be compacted, together with the damaged file
		set(t, s, "000002", "new")
		set(t, s, "009998", "new")
		if err := s.db.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(time.Minute); told.background.Load() == 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if background, damaged := told.background.Load(), told.damaged.Load(); background != 1 || damaged != 1 {
		t.Errorf("told of %d failed compactions and %d damaged files, want one each", background, damaged)
	}
	for key, want := range map[string]string{"000002": "new", "009999": strings.Repeat("x", 100)} {
		if got := get(t, s.View, key); got != want {
			t.Errorf("%s is %q", key, got)
		}
	}
}
