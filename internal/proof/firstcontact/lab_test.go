package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestStaleLines(t *testing.T) {
	for _, c := range []struct {
		before, now string
		want        []string
	}{
		{"a\nb\nb\n", "a\nb\nb\n", nil},
		{"a\nb\n", "a\nc\n", []string{"- b", "+ c"}},
		{"a\nb\nb\n", "a\nb\n", []string{"- b"}},
		{"a\n", "a\na\n", []string{"+ a"}},
	} {
		if got := staleLines(c.before, c.now); !slices.Equal(got, c.want) {
			t.Errorf("%q and %q: got %q, want %q", c.before, c.now, got, c.want)
		}
	}
}

func TestTally(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, labPage))
	if err != nil {
		t.Fatal(err)
	}
	if got := tally(string(page)); got == tally("") {
		t.Errorf("%s has no verdicts", labPage)
	}
	if got, want := tally("| 001 | says | measured | wrong | why |\n| one key | 1 | 2 | 3 | 4 |\n"), "0 right, 0 partly, 1 wrong"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
