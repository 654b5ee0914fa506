package main

import (
	"strings"
	"testing"
)

func TestReserveFlag(t *testing.T) {
	for text, want := range map[string]reserve{"0": -1, " 0 ": -1, "64MB": 64 << 20, "1024KB": 1 << 20} {
		var r reserve
		if err := r.Set(text); err != nil || r != want {
			t.Errorf("%q: got %d, %v; want %d", text, r, err, want)
		}
	}
	for _, text := range []string{"", "-1", "much", "4096MB", "0MB", "700"} {
		var r reserve
		if err := r.Set(text); err == nil || !strings.Contains(err.Error(), "MB, or 0 to disable it") {
			t.Errorf("%q: got %v, want an error that shows how to say it", text, err)
		}
	}
}

func TestServeRefusesReserves(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"--reserve does nothing without --data": {"--reserve", "64MB"},
		"such as 64MB":                          {"--reserve", "some", "--data", t.TempDir()},
	} {
		stdout, stderr, code := command(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, want)
		}
	}
}
