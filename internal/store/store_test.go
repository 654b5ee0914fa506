package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heatsink-go/heatsink/internal/bubble"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closed(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func set(t *testing.T, s *Store, key, value string) {
	t.Helper()
	b := s.NewBatch()
	b.Set([]byte(key), []byte(value))
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, v View, key string) string {
	t.Helper()
	value, found, err := v.Get(nil, []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return "(none)"
	}
	return string(value)
}

func TestStoreReadsWhatWasWritten(t *testing.T) {
	for name, dir := range map[string]string{"memory": "", "directory": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			s := open(t, dir)
			defer closed(t, s)
			set(t, s, "a", "1")
			set(t, s, "b", "2")
			snapshot := s.Snapshot()
			b := s.NewBatch()
			b.Set([]byte("a"), []byte("3"))
			b.Delete([]byte("b"))
			b.Set([]byte("c"), []byte("4"))
			if err := b.Commit(); err != nil {
				t.Fatal(err)
			}
			for key, want := range map[string]string{"a": "3", "b": "(none)", "c": "4"} {
				if got := get(t, s.View, key); got != want {
					t.Errorf("%s is %s, want %s", key, got, want)
				}
			}
			for key, want := range map[string]string{"a": "1", "b": "2", "c": "(none)"} {
				if got := get(t, snapshot.View, key); got != want {
					t.Errorf("in the snapshot %s is %s, want %s", key, got, want)
				}
			}
			if err := snapshot.Close(); err != nil {
				t.Fatal(err)
			}
			it, err := s.Read(Range{[]byte("a"), []byte("c")})
			if err != nil {
				t.Fatal(err)
			}
			if !it.First() || string(it.Key()) != "a" || it.Next() {
				t.Error("the range a to c does not hold a alone")
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestStoreRunsInABubble(t *testing.T) {
	for range 2 { // what the first bubble leaves behind must not trouble a second
		bubble.Test(t, func(t *testing.T) {
			s := open(t, "")
			for i := range 500 {
				set(t, s, fmt.Sprint(i), strings.Repeat("x", 100_000)) // enough for flushes and compactions
			}
			time.Sleep(time.Hour)
			closed(t, s)
		})
	}
}

func TestDirectoryKeepsItsData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	s := open(t, dir)
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() { set(t, s, fmt.Sprint(i), "x") })
	}
	group.Wait()
	closed(t, s)
	s = open(t, dir)
	defer closed(t, s)
	for i := range 50 {
		if got := get(t, s.View, fmt.Sprint(i)); got != "x" {
			t.Errorf("%d is %s", i, got)
		}
	}
}

func TestDirectoryInUseIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := Open(context.Background(), Options{Dir: dir}); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "in this one") {
		t.Errorf("got %v, want %v, be it by this process", err, ErrInUse)
	}
	closed(t, s)
	closed(t, open(t, dir))
}

// contents returns the names and contents of all files, without the lock, whose
// presence means nothing.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "LOCK" {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestUnfitDirectoriesAreRefusedAndLeftAlone(t *testing.T) {
	write := func(t *testing.T, dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	filled := func(t *testing.T, dir string) {
		s := open(t, dir)
		set(t, s, "key", strings.Repeat("value", 1000))
		closed(t, s)
	}
	damage := func(pattern string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			filled(t, dir)
			files, err := filepath.Glob(filepath.Join(dir, "db", pattern))
			if err != nil || len(files) == 0 {
				t.Fatalf("no file %s: %v", pattern, err)
			}
			for _, f := range files {
				if err := os.WriteFile(f, []byte("not what was here"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, dir string)
		want  error
	}{
		{"foreign", func(t *testing.T, dir string) { write(t, dir, "thesis.doc", "precious") }, ErrForeign},
		{"newer", func(t *testing.T, dir string) { filled(t, dir); write(t, dir, markFile, "heatsink 3\n") }, ErrNewer},
		{"garbled mark", func(t *testing.T, dir string) { filled(t, dir); write(t, dir, markFile, "heatsi") }, ErrDamaged},
		{"strange mark", func(t *testing.T, dir string) { filled(t, dir); write(t, dir, markFile, "heatsink 1 odd\n") }, ErrDamaged},
		{"no database", func(t *testing.T, dir string) {
			filled(t, dir)
			if err := os.RemoveAll(filepath.Join(dir, "db")); err != nil {
				t.Fatal(err)
			}
		}, ErrDamaged},
		{"damaged manifest", damage("MANIFEST-*"), ErrDamaged},
		{"damaged options", damage("OPTIONS-*"), ErrDamaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.spoil(t, dir)
			before := contents(t, dir)
			_, err := Open(context.Background(), Options{Dir: dir})
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if !strings.Contains(err.Error(), dir) {
				t.Errorf("the error does not name the directory: %v", err)
			}
			after := contents(t, dir)
			if len(before) != len(after) {
				t.Errorf("%d files became %d", len(before), len(after))
			}
			for name, text := range before {
				if after[name] != text {
					t.Errorf("%s was changed", name)
				}
			}
		})
	}
}

// A directory of format 1 has what format 2 has, but for backups and history.
func TestOlderFormatIsRaised(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	set(t, s, "a", "1")
	closed(t, s)
	if err := os.WriteFile(filepath.Join(dir, markFile), []byte("heatsink 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer closed(t, s)
	if got := get(t, s.View, "a"); got != "1" {
		t.Errorf("a is %s, want 1", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, markFile)); err != nil || string(text) != "heatsink 2\n" {
		t.Errorf("the mark is %q, %v; want that of format 2", text, err)
	}
}

func TestCreationCutShortIsResumed(t *testing.T) {
	for name, leave := range map[string]map[string]string{
		"nothing but a lock": {"LOCK": ""},
		"a temporary mark":   {"LOCK": "", "HEATSINK.tmp": "heat"},
		"a mark":             {"LOCK": "", "HEATSINK": "heatsink 1 new\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range leave {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := open(t, dir)
			set(t, s, "a", "1")
			closed(t, s)
			s = open(t, dir)
			defer closed(t, s)
			if got := get(t, s.View, "a"); got != "1" {
				t.Errorf("a is %s, want 1", got)
			}
		})
	}
}

func TestAfterIsBeyondThePrefixAndNothingElse(t *testing.T) {
	for _, c := range []struct{ prefix, want string }{
		{"a", "b"}, {"a\xff", "b"}, {"a\xff\xff", "b"}, {"\x02\x00", "\x02\x01"}, {"ab", "ac"},
	} {
		if got := After([]byte(c.prefix)); !bytes.Equal(got, []byte(c.want)) {
			t.Errorf("After(%q) = %q, want %q", c.prefix, got, c.want)
		}
	}
}

func TestRecordKeys(t *testing.T) {
	for _, n := range []uint64{0, 1, 1 << 40, 1<<64 - 1} {
		if got := RecordSequence(RecordKey(7, n)); got != n {
			t.Errorf("the sequence number %d reads back as %d", n, got)
		}
	}
}

func TestMaxOpenFiles(t *testing.T) {
	for given, want := range map[int]int{0: 0, 100: 100, -1: 0} {
		s := newStore(Options{MaxOpenFiles: given}, nil)
		if got := s.pebbleOptions(nil).MaxOpenFiles; got != want {
			t.Errorf("%d: got %d, want %d", given, got, want)
		}
	}
}
