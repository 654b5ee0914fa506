//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"context"
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
