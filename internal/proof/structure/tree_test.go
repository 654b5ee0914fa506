package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// read reads one of the trees in testdata.
func read(t *testing.T, name string) *tree {
	t.Helper()
	tree, err := readTree(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// write makes a tree of files, and returns its directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// same fails if two lists differ.
func same[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Tests, other modules and what the go command passes over are no part of a tree.
func TestReadTree(t *testing.T) {
	small := read(t, "small")
	if small.module != "example.com/small" || small.goLine != "1.26.0" {
		t.Errorf("got module %q with go %q, want example.com/small with 1.26.0", small.module, small.goLine)
	}
	var files []string
	for _, p := range small.packages {
		for _, f := range p.files {
			files = append(files, f.path)
		}
	}
	same(t, "files", files, []string{
		"limit.go", "query.go", "store.go", "store_tagged.go", "cmd/tool/main.go", "internal/jsonpull/jsonpull.go",
		"internal/mid/mid.go", "internal/other/other.go", "internal/shared/shared.go", "local/local.go", "plan/plan.go",
	})
}

func TestReadTreeRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"no module", map[string]string{"a.go": "package a\n"}, "go.mod"},
		{"no module line", map[string]string{"go.mod": "go 1.26.0\n", "a.go": "package a\n"}, "no line with module"},
		{"no go line", map[string]string{"go.mod": "module example.com/a\n", "a.go": "package a\n"}, "none with go"},
		{"no package in the root", map[string]string{"go.mod": "module example.com/a\n\ngo 1.26.0\n", "b/b.go": "package b\n"}, "its root has no Go file"},
		{"a file that does not parse", map[string]string{"go.mod": "module example.com/a\n\ngo 1.26.0\n", "a.go": "package a\n\nfunc {\n"}, "a.go:3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := readTree(write(t, c.files)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one about %q", err, c.want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\n\nb": 3, "a\n\nb\n": 3} {
		if got := (&file{source: []byte(text)}).lines(); got != want {
			t.Errorf("%q: got %d lines, want %d", text, got, want)
		}
	}
}

func TestLinks(t *testing.T) {
	small := read(t, "small")
	same(t, "links of the root", small.links("."), []string{"internal/jsonpull", "internal/mid", "internal/shared"})
	same(t, "links of other", small.links("internal/other"), []string{".", "internal/jsonpull", "internal/mid", "internal/shared"})
	same(t, "links of a package that is not there", small.links("gone"), nil)
	same(t, "what the engine does not link", small.libraryOnly(), []string{"example.com/small", "example.com/small/internal/jsonpull", "example.com/small/internal/mid"})
}
