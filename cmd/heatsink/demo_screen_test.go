package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestScreen(t *testing.T) {
	for _, c := range []struct {
		name     string
		terminal bool
		want     string
	}{
		{"terminal", true, "\r\x1b[2Kgoing \x1b[32mon\x1b[0m\r\x1b[2K\r\x1b[2Kdone\n"},
		{"plain", false, "done\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			s := &screen{&out, c.terminal}
			s.live("going " + s.green("on"))
			s.clear()
			s.say("%s", "done"+s.red(""))
			if out.String() != c.want {
				t.Errorf("got %q, want %q", out.String(), c.want)
			}
		})
	}
}

func TestFilesAreNoTerminals(t *testing.T) {
	t.Setenv("TERM", "xterm")
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if isTerminal(file) || isTerminal(&bytes.Buffer{}) {
		t.Error("a file or a buffer is taken for a terminal")
	}
}
