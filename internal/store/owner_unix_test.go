//go:build unix

package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// openToOthers returns what of a directory others than its owner may use.
func openToOthers(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // Pebble has removed it since
		}
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			found = append(found, path+" "+info.Mode().String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestFilesAreTheirOwners(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, dir)
	fill(t, s, 100)
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	fill(t, s, 100)
	if found := openToOthers(t, dir); found != nil {
		t.Errorf("a new store has %q", found)
	}
	closed(t, s)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return errors.Join(err, os.Chmod(path, 0o644))
	})
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer closed(t, s)
	if found := openToOthers(t, dir); len(found) != 1 || !strings.HasPrefix(found[0], dir+" drwxr-xr-x") {
		t.Errorf("of a store as earlier versions made it others may use %q, want the directory itself alone, which keeps its mode", found)
	}
}

func TestDeletedLockFileDoesNotUnlock(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for _, path := range []string{filepath.Join(dir, "LOCK"), filepath.Join(dir, dbDir, "LOCK")} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(context.Background(), Options{Dir: dir}); !errors.Is(err, ErrInUse) || strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v, want %v", err, ErrInUse)
	}
	set(t, s, "a", "1")
	closed(t, s)
	s = open(t, dir)
	defer closed(t, s)
	if got := get(t, s.View, "a"); got != "1" {
		t.Errorf("a is %s, want 1", got)
	}
}
