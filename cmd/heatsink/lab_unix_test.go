//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/heatsink-go/heatsink/internal/lab/scenario"
)

// What is not a regular file is refused at once: a pipe would wait for its writer, and a device has no end.
func TestLabRunWantsARegularFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, "/dev/zero", "./"} {
		if _, stderr, code := command(t, "lab", "run", name); code != 2 || !strings.Contains(stderr, "is not a regular file") {
			t.Errorf("%s: exit %d, %s", name, code, stderr)
		}
	}
	large := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(large, make([]byte, scenario.MaxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := command(t, "lab", "run", large); code != 2 || !strings.Contains(stderr, "has more than 1048576 bytes") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// To open a pipe waits for whoever has its other end, but no longer than the command is wanted.
func TestWaitingForAPipeEnds(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"lab", "replay", pipe}, {"plan", "--report", pipe}} {
		if code := run(ctx, args, io.Discard, io.Discard); code != 2 {
			t.Errorf("%s: exit %d", args, code)
		}
	}
	other, err := os.OpenFile(pipe, os.O_RDWR, 0) // lets those go who wait
	if err != nil {
		t.Fatal(err)
	}
	other.Close()
}

// Where a file cannot be written, the command says so before it works for it.
func TestOutputThatCannotBeWritten(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		pipe:                  "is not a regular file: give the name of one",
		t.TempDir():           "is not a regular file: give the name of one",
		"/nonexistent/x.html": "no such file or directory: give a file in a directory that exists",
	} {
		for _, args := range [][]string{{"lab", "run", "throughput", "--html", file}, {"demo", "--quick", "--save-page", file}} {
			stdout, stderr, code := command(t, args...)
			if code != 2 || stdout != "" || !strings.HasPrefix(stderr, "heatsink: --") || !strings.Contains(stderr, want) {
				t.Errorf("%s: exit %d, %s%s", args, code, stdout, stderr)
			}
		}
	}
	if _, stderr, code := command(t, "lab", "run", "throughput", "--html", os.DevNull); code != 0 {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// A file takes the place of another when it is whole: what fails leaves the old one, and nothing beside it.
func TestOutputIsReplacedWhole(t *testing.T) {
	dir := t.TempDir()
	old, link := filepath.Join(dir, "old.html"), filepath.Join(dir, "link.html")
	if err := errors.Join(os.WriteFile(old, []byte("old"), 0o600), os.Symlink(old, link)); err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	err := writeOutput(link, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 10_000))
		return errors.Join(err, full)
	})
	if text, fault := os.ReadFile(old); !errors.Is(err, full) || !strings.Contains(err.Error(), "left as it was") || string(text) != "old" {
		t.Errorf("got %v, %q, %v", err, text, fault)
	}
	if err := errors.Join(checkOutput(link), checkOutput(filepath.Join(dir, "new.html"))); err != nil {
		t.Error(err)
	}
	if err := writeOutput(link, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Error(err)
	}
	info, err := os.Lstat(old)
	if text, fault := os.ReadFile(old); err != nil || string(text) != "new" || info.Mode() != 0o600 {
		t.Errorf("got %q, %v, %v, %v", text, fault, info, err)
	}
	if left, err := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left %v, %v", left, err)
	}
}
