//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What Open reads of a directory before it has locked it may be out of date: here
// another process makes the store meanwhile, and what it stored must stay.
func TestStoreMadeMeanwhileIsKept(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	set(t, s, "a", "1")
	closed(t, s)
	mark, done := filepath.Join(dir, markFile), filepath.Join(t.TempDir(), "done")
	if err := os.Rename(mark, done); err != nil {
		t.Fatal(err)
	}
	// Reading a pipe lasts until its writer is done: that is the time in between.
	if err := syscall.Mkfifo(mark, fileMode); err != nil {
		t.Fatal(err)
	}
	type result struct {
		store *Store
		err   error
	}
	opened := make(chan result, 1)
	go func() {
		s, err := Open(context.Background(), Options{Dir: dir})
		opened <- result{s, err}
	}()
	pipe, err := os.OpenFile(mark, os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pipe.WriteString("heatsink 1 new\n"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(done, mark); err != nil {
		t.Fatal(err)
	}
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	r := <-opened
	if r.err != nil {
		t.Fatal(r.err)
	}
	defer closed(t, r.store)
	if got := get(t, r.store.View, "a"); got != "1" {
		t.Errorf("a is %s, want 1", got)
	}
}
