//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The directory's own lock keeps others out whatever became of the file LOCK.
func TestDirectoryIsLockedOnce(t *testing.T) {
	dir := t.TempDir()
	first, err := lockWhole(dir)
	if err != nil || first == nil {
		t.Fatalf("got %v, %v, want a lock", first, err)
	}
	if second, err := lockWhole(dir); second != nil || !errors.Is(err, ErrInUse) {
		t.Errorf("a second lock: got %v, %v, want %v", second, err, ErrInUse)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := lockWhole(dir)
	if err != nil || again == nil {
		t.Fatalf("after the first was closed: got %v, %v, want a lock", again, err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// Who cannot have both locks keeps neither, and can try again.
func TestHalfALockIsGivenBack(t *testing.T) {
	dir := t.TempDir()
	inTheWay := filepath.Join(dir, "LOCK")
	if err := os.Mkdir(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := lockDir(dir)
	if pathErr := (*fs.PathError)(nil); !errors.As(err, &pathErr) || errors.Is(err, ErrInUse) {
		t.Fatalf("got %v, want that the file cannot be made, and nothing of others", err)
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	held, err := lockDir(dir)
	if err != nil {
		t.Fatalf("once the file can be made: %v", err)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
}
