package main

import (
	"archive/zip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// write writes files into a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A small program that is built in two directories gives the same bytes, and knows its version.
func TestBuildsAreTheSame(t *testing.T) {
	p := platform{runtime.GOOS, runtime.GOARCH}
	var first []byte
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "a", "longer", "path")} {
		write(t, dir, map[string]string{
			"go.mod":  "module example.com/small\n\ngo 1.26\n",
			"main.go": "package main\n\nvar released string\n\nfunc main() { println(released, here()) }\n\nfunc here() string { panic(released) }\n",
		})
		to := filepath.Join(t.TempDir(), "small")
		if err := build(t.Context(), dir, ".", "v1.2.3", p, to); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.Contains(string(text), dir):
			t.Errorf("the binary names the directory %s", dir)
		case !strings.Contains(string(text), "v1.2.3"):
			t.Error("the binary does not name its version")
		case first != nil && !slices.Equal(first, text):
			t.Error("two builds differ")
		}
		first = text
	}
}

func TestSums(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"b": "", "a": "abc"})
	if err := sums(dir, []string{"b", "a"}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	want := "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n" +
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n"
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A release replaces an earlier one, and nothing else that its directory has.
func TestReleaseKeepsOtherFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"heatsink_v0_linux_amd64": "old", "SHA256SUMS": "old", "thesis.txt": "mine", "heatsink_notes/a": "mine", "sub/SHA256SUMS": "mine"})
	if err := release(t.Context(), dir, "v1", nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"SHA256SUMS": "", "thesis.txt": "mine", "heatsink_notes/a": "mine", "sub/SHA256SUMS": "mine"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "heatsink_v0_linux_amd64")); !os.IsNotExist(err) {
		t.Errorf("the earlier release is still there: %v", err)
	}
}

func TestChoose(t *testing.T) {
	if all, err := choose(""); err != nil || len(all) != 6 {
		t.Errorf("got %v, %v", all, err)
	}
	if some, err := choose("darwin/arm64,windows/amd64"); err != nil || len(some) != 2 || binary("v1", some[0]) != "heatsink_v1_darwin_arm64" || binary("v1", some[1]) != "heatsink_v1_windows_amd64.exe" {
		t.Errorf("got %v, %v", some, err)
	}
	if _, err := choose("plan9/386"); err == nil {
		t.Error("a platform that is not there was chosen")
	}
}

// The module has none of the modules that are nested in it, no file that was not added, and all of the rest.
func TestPublish(t *testing.T) {
	checkout, proxy := t.TempDir(), t.TempDir()
	write(t, checkout, map[string]string{
		"go.mod": "module " + module + "\n\ngo 1.26\n", "main.go": "package main\n", ".gitignore": "/dist/\n", "dist/heatsink": "binary",
		"internal/browser/go.mod": "module x\n", "internal/browser/page/page.go": "package page\n", "internal/browsers.go": "package internal\n",
	})
	if _, err := output(t.Context(), checkout, nil, "git", "init", "--quiet"); err != nil {
		t.Skip(err) // without git there is no checkout to publish
	}
	if _, err := output(t.Context(), checkout, nil, "git", "add", "."); err != nil {
		t.Fatal(err)
	}
	write(t, checkout, map[string]string{"notes.txt": "nobody has added this\n", "internal/secret.go": "package internal\n"})
	if err := publish(t.Context(), checkout, proxy, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(proxy, "github.com", "heatsink-go", "heatsink", "@v")
	archive, err := zip.OpenReader(filepath.Join(dir, "v0.1.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var names []string
	for _, file := range archive.File {
		names = append(names, strings.TrimPrefix(file.Name, module+"@v0.1.0/"))
	}
	slices.Sort(names)
	if want := []string{".gitignore", "go.mod", "internal/browsers.go", "main.go"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	for name, want := range map[string]string{"list": "v0.1.0\n", "v0.1.0.mod": "module " + module + "\n\ngo 1.26\n", "v0.1.0.info": `{"Version":"v0.1.0"`} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%s: got %s, %v", name, text, err)
		}
	}
}
